package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckOutput is CheckDistinct for an output that is not a model. It reports an existing model at
// path, because the output would replace it.
func CheckOutput(path string, inputs ...string) error {
	if err := CheckDistinct(path, inputs...); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil && filepath.Ext(path) == ".safetensors" {
		return Usagef("-o %s would replace a model by a file of another kind", path)
	}
	return nil
}

// CheckModelOutput is CheckDistinct for a model. It reports a missing -o and, without force, an
// existing file, because a model can be hours of training.
func CheckModelOutput(path string, force bool, inputs ...string) error {
	if path == "" {
		return Usagef("-o is missing")
	}
	if err := CheckDistinct(path, inputs...); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil && !force {
		return fmt.Errorf("%s already exists: -force replaces it", path)
	}
	return nil
}

// CheckDistinct is CheckWritable for the file of -o. It reports an input that is the same file, by
// any name, because the output would replace it. Inputs may be "".
func CheckDistinct(path string, inputs ...string) error {
	if out, err := os.Stat(path); err == nil {
		for _, input := range inputs {
			if info, err := os.Stat(input); err == nil && os.SameFile(info, out) {
				return Usagef("-o %s would replace an input, %s", path, input)
			}
		}
	}
	return CheckWritable(path)
}

// IsDevice reports whether path is a device or a pipe, to which one can write.
func IsDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0
}

// CheckWritable reports why no file can be written at path, for a check before long work. It leaves
// no file behind.
func CheckWritable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be written: the folder %s does not exist", path, dir)
	}
	f, err := os.CreateTemp(dir, ".tfm-check-*")
	if err != nil {
		if cause := new(fs.PathError); errors.As(err, &cause) {
			err = cause.Err // without the name of the temporary file
		}
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}
