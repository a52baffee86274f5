package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// Width returns the number of columns of the console f: 80 if unknown, 0 if f is not a console.
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
