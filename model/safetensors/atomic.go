package safetensors

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	temporarySuffix = ".tfm-tmp"
	temporaryBytes  = 8 // of randomness, in hexadecimal in the name
	writeBuffer     = 1 << 18
)

// WriteAtomic makes path hold exactly what write writes, or what it held
// before: a reader, or a crash at any instant, sees one or the other. It writes
// a temporary file in the same folder through a buffer, syncs it, renames it
// over path and syncs the folder, where the system allows. On any error,
// write's own included, the temporary file is removed and path is untouched;
// only the very last step, syncing the folder, can fail with the new file in
// place. An existing file keeps its permissions, a symbolic link to a file stays
// one, and something other than a regular file at path is an error.
//
// A temporary file is named .BASE.HHHHHHHHHHHHHHHH.tfm-tmp, with the target's
// base name and sixteen hexadecimal digits. A killed process leaves it behind
// for [RemoveStale]. Calls may run concurrently; the last rename wins.
func WriteAtomic(path string, write func(w io.Writer) error) error {
	if err := writeAtomic(path, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func writeAtomic(path string, write func(w io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return fmt.Errorf("found a %s, expected a regular file or none", kind(old))
	}
	dir := filepath.Dir(path)
	f, err := createTemporary(path)
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when write panics
		if !renamed {
			f.Close()
			if gone := os.Remove(f.Name()); !errors.Is(gone, os.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}()
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	buffered := bufio.NewWriterSize(f, writeBuffer)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

func createTemporary(path string) (*os.File, error) {
	var random [temporaryBytes]byte
	rand.Read(random[:])
	dir, base := filepath.Split(path)
	name := dir + "." + base + "." + hex.EncodeToString(random[:]) + temporarySuffix
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		markInUse(f)
	}
	return f, err
}

// isTemporaryOf reports whether name is one that createTemporary gives for base.
func isTemporaryOf(name, base string) bool {
	rest, ok := strings.CutPrefix(name, "."+base+".")
	digits, ok2 := strings.CutSuffix(rest, temporarySuffix)
	_, err := hex.DecodeString(digits)
	return ok && ok2 && err == nil && len(digits) == 2*temporaryBytes && digits == strings.ToLower(digits)
}

// RemoveStale removes the temporary files that killed calls of [WriteAtomic]
// for this path left in its folder, and returns their names. It touches nothing
// else, not those of other targets. Files that a living process is writing are
// left alone where the system has file locks (Linux, macOS, BSD); Windows
// refuses to remove them, which is then an error. A WriteAtomic that starts at
// the same instant may fail for it, with path untouched. On other systems, call
// it only when nobody writes to path.
func RemoveStale(path string) (removed []string, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		if !e.Type().IsRegular() || !isTemporaryOf(e.Name(), base) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if inUse(name) {
			continue
		}
		if err := os.Remove(name); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, name)
	}
	return removed, errors.Join(errs...)
}
