package parts

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Open calls use with the files of a model at path: those of a folder and of its folders subs, or
// those in a zip archive beside the only file whose name match accepts, which what describes. It
// refuses names that a folder cannot have, duplicate names, and files whose content would need more
// than MaxGrowth times the memory of the archive, plus MinMemory.
func Open(path, what string, match func(name string) bool, use func(Folder) error, subs ...string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		f, err := OpenFolder(path, subs...)
		if err != nil {
			return err
		}
		return use(f)
	}
	r, size, err := OpenZip(path)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := archiveFolder(path, &r.Reader, size)
	if err == nil {
		f, err = f.root(what, match)
	}
	if err != nil {
		return err
	}
	return use(f)
}

// IsZip reports whether a path is named as a zip archive.
func IsZip(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// isMacFile reports whether a file in an archive is of macOS, beside the file of the same name.
func isMacFile(name string) bool { return strings.HasPrefix(name, "__MACOSX/") }

// OpenZip opens a zip archive, and returns its size in bytes.
func OpenZip(path string) (*zip.ReadCloser, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: found %v, expected a file", path, info.Mode().Type())
	}
	r, err := zip.OpenReader(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	return r, info.Size(), nil
}

// archiveFolder returns the files of an archive of size bytes.
func archiveFolder(path string, r *zip.Reader, size int64) (Folder, error) {
	f := Folder{Path: path, Files: map[string]func() ([]byte, error){}, Size: size, Archived: true}
	left := uint64(MaxGrowth*size + MinMemory) // for the content of files
	for _, entry := range r.File {
		name := strings.TrimSuffix(entry.Name, "/")
		if !fs.ValidPath(name) || strings.ContainsAny(name, "\\:") {
			return Folder{}, fmt.Errorf("%s: found a file %.80q, expected a path in the archive", path, entry.Name)
		}
		if isMacFile(name) {
			continue
		}
		if f.Has(name) {
			return Folder{}, fmt.Errorf("%s: found %.80q twice", path, name)
		}
		if !entry.Mode().IsRegular() {
			if !entry.Mode().IsDir() {
				return Folder{}, fmt.Errorf("%s: found %.80q, %v, expected files and folders", path, name, entry.Mode().Type())
			}
			continue
		}
		f.Files[name] = func() ([]byte, error) {
			n := entry.UncompressedSize64
			if n > left {
				return nil, fmt.Errorf("%s: found %.80q of %d bytes, expected at most %d in an archive of %d", path, name, n, left, size)
			}
			left -= n
			data, err := ReadEntry(entry)
			if err != nil {
				return nil, fmt.Errorf("%s: %.80q: %w", path, name, err)
			}
			return data, nil
		}
	}
	return f, nil
}

// ReadEntry returns the content of a file in an archive, whose size the caller has compared with
// that of the archive. The reader compares the content with the size and the checksum.
func ReadEntry(entry *zip.File) ([]byte, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := bytes.NewBuffer(make([]byte, 0, entry.UncompressedSize64+bytes.MinRead))
	_, err = data.ReadFrom(r)
	return data.Bytes(), err
}

// root returns f, or the folder in it, with the only file whose name match accepts in as few
// folders as any. what describes the file, for errors.
func (f Folder) root(what string, match func(name string) bool) (Folder, error) {
	var found []string
	for name := range f.Files {
		if !match(path.Base(name)) {
			continue
		}
		depth := strings.Count(name, "/")
		if len(found) > 0 && depth < strings.Count(found[0], "/") {
			found = nil
		}
		if len(found) == 0 || depth == strings.Count(found[0], "/") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if len(found) != 1 {
		return Folder{}, fmt.Errorf("%s: found %d files %s, %.200q, expected one", f.Path, len(found), what, found[:min(len(found), 3)])
	}
	if dir := path.Dir(found[0]); dir != "." {
		return f.In(dir), nil
	}
	return f, nil
}

// In returns the files of a folder in f.
func (f Folder) In(name string) Folder {
	sub := Folder{Path: f.Name(name), Files: map[string]func() ([]byte, error){}, Size: f.Size, Archived: f.Archived}
	for file, read := range f.Files {
		if rest, ok := strings.CutPrefix(file, name+"/"); ok {
			sub.Files[rest] = read
		}
	}
	return sub
}

// IsArchiveWith reports whether path is a zip archive with a file whose name match accepts.
func IsArchiveWith(path string, match func(name string) bool) bool {
	if !IsZip(path) {
		return false
	}
	r, _, err := OpenZip(path)
	if err != nil {
		return false
	}
	defer r.Close()
	return slices.ContainsFunc(r.File, func(entry *zip.File) bool { return !isMacFile(entry.Name) && match(filepath.Base(entry.Name)) })
}
