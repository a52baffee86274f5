//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package safetensors

import "os"

// syncDir does nothing: Windows makes renames durable itself and cannot sync a folder.
func syncDir(string) error { return nil }

// markInUse does nothing: Windows refuses to remove an open file.
func markInUse(*os.File) {}

// inUse returns false; the removal of an open file fails.
func inUse(string) bool { return false }
