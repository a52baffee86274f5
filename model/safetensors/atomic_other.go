//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package safetensors

import "os"

// syncDir does nothing: Windows makes renames durable itself and cannot sync a folder.
func syncDir(string) error { return nil }

// markInUse does nothing: Windows refuses to remove an open file.
func markInUse(*os.File) bool { return true }

// removeUnused removes a file; the removal of an open one fails.
func removeUnused(name string) (bool, error) { return true, os.Remove(name) }
