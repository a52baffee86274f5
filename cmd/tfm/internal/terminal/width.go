package terminal

import "os"

// IsTerminal reports whether f is a terminal. Other devices, such as /dev/null, are not.
func IsTerminal(f *os.File) bool { return Width(f) > 0 }
