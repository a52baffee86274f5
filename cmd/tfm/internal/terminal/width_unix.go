//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Width returns the number of columns of the terminal f: 80 if unknown, 0 if f is not a terminal.
func Width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	if size.Col == 0 {
		return 80
	}
	return int(size.Col)
}
