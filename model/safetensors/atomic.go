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
	"runtime"
	"strings"
)

const (
	temporarySuffix = ".tfm-tmp"
	temporaryBytes  = 8 // of randomness, in hexadecimal in the name
	writeBuffer     = 1 << 18
)

// WriteAtomic replaces the content of path with the output of write. At any
// instant, a crash included, path has the old content or the new one. WriteAtomic
// writes a temporary file in the same folder through a buffer, syncs it, renames
// it to path and syncs the folder, where the system allows. On any error,
// write's own included, it removes the temporary file and leaves path
// unchanged; only an error of the last step, syncing the folder, leaves the new
// file in place. An existing file keeps its permissions, and a symbolic link
// keeps pointing to its file. A path that is not a regular file is refused.
//
// A temporary file is named .BASE.HHHHHHHHHHHHHHHH.tfm-tmp, with the target's
// base name and sixteen hexadecimal digits. [RemoveStale] removes those of
// killed processes. Calls may run concurrently; the last rename wins.
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
	// The file is open, and so in use, until it has its name, but Windows renames none that is.
	if runtime.GOOS == "windows" {
		f.Close()
	} else {
		defer f.Close()
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

// createTemporary creates and locks the temporary file for path.
func createTemporary(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		var random [temporaryBytes]byte
		rand.Read(random[:])
		name := dir + "." + base + "." + hex.EncodeToString(random[:]) + temporarySuffix
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, err
		}
		if markInUse(f) {
			if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
				return f, nil
			}
		}
		f.Close() // RemoveStale was faster than the mark
	}
}

// isTemporaryOf reports whether createTemporary could use name for a file called base.
func isTemporaryOf(name, base string) bool {
	rest, ok := strings.CutPrefix(name, "."+base+".")
	digits, ok2 := strings.CutSuffix(rest, temporarySuffix)
	_, err := hex.DecodeString(digits)
	return ok && ok2 && err == nil && len(digits) == 2*temporaryBytes && digits == strings.ToLower(digits)
}

// RemoveStale removes the temporary files of killed calls of [WriteAtomic] for
// path, and returns their names. It keeps all other files, including temporary
// files of other paths. It also keeps files that a running process is writing if
// the system has file locks (Linux, macOS, BSD). On Windows it returns an error
// for these, because Windows refuses to remove them. On other systems, do not
// call it while a process writes to path.
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
		tried, err := removeUnused(name)
		if err != nil {
			errs = append(errs, err)
		} else if tried {
			removed = append(removed, name)
		}
	}
	return removed, errors.Join(errs...)
}
