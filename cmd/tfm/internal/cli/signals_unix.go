//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// survivePipe makes a write to a pipe without a reader an error.
func survivePipe() { signal.Ignore(syscall.SIGPIPE) }

// surviveFileLimit makes a write beyond the limit of ulimit -f an error, as on a full disk.
func surviveFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
