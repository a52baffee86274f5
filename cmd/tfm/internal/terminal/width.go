package terminal

import "os"

// IsTerminal says whether somebody reads or types at f. A device such as /dev/null is no terminal.
func IsTerminal(f *os.File) bool { return Width(f) > 0 }
