package main

import "os"

// isTerminal says whether somebody reads or types at f. A device such as /dev/null is no terminal.
func isTerminal(f *os.File) bool { return terminalWidth(f) > 0 }
