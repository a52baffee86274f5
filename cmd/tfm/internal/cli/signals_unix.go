//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// survivePipe keeps the program alive when it writes to a pipe that nobody reads any more.
func survivePipe() { signal.Ignore(syscall.SIGPIPE) }

// surviveFileLimit turns a write over the limit of `ulimit -f` into an error of that write, as on a
// full disk.
func surviveFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
