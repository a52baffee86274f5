//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Width is the number of columns of the terminal that f is, 80 if it does not say, 0 if f is none.
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
