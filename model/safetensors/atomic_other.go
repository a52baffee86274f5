//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package safetensors

import "os"

// Windows makes renames durable itself and has no handle of a folder to sync.
func syncDir(string) error { return nil }

// Windows refuses to remove a file that is open.
func markInUse(*os.File) {}

func inUse(string) bool { return false }
