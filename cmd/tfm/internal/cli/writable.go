package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckWritable reports why a file cannot be written at path. It is called before work whose
// result would be lost, and leaves nothing behind.
func CheckWritable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file, so nothing can be written there", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tfm-check-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}
