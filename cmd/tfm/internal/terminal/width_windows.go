package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// Width is the number of columns of the console that f is, 80 if it does not say, 0 if f is none.
func Width(f *os.File) int {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) != nil {
		return 0
	}
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 80
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
