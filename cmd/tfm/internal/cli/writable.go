package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckWritable reports why no file can be written at path, for a check before long work. It leaves
// no file behind.
func CheckWritable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tfm-check-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}
