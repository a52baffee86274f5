package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive, or a folder if its path ends in a slash.
type file struct {
	path string
	mode int64
	data []byte
}

// under returns files in a folder.
func under(folder string, files []file) []file {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].path = path.Join(folder, moved[i].path)
	}
	return moved
}

// withFolders returns files in the order of their paths, with all folders that contain them.
func withFolders(files []file) []file {
	all := slices.Clone(files)
	for _, f := range files {
		for folder := path.Dir(strings.TrimSuffix(f.path, "/")); folder != "."; folder = path.Dir(folder) {
			all = append(all, file{folder + "/", 0o755, nil})
		}
	}
	slices.SortStableFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(all, func(a, b file) bool { return a.path == b.path })
}

// tarArchive returns files, whose paths begin with root, as an archive of files of root's.
func tarArchive(files []file, root string, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range withFolders(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: root + f.path, Mode: f.mode, Size: int64(len(f.data)), ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// tarGz returns files in a folder as a tar.gz archive.
func tarGz(files []file, folder string, date time.Time) ([]byte, error) {
	data, err := tarArchive(under(folder, files), "", date)
	if err != nil {
		return nil, err
	}
	return gzipped(data)
}

// gzipped compresses data without name and time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// zipArchive returns files in a folder as a zip archive.
func zipArchive(files []file, folder string, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range withFolders(under(folder, files)) {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: date}
		h.SetMode(fs.FileMode(f.mode))
		if strings.HasSuffix(f.path, "/") {
			h.SetMode(fs.ModeDir | fs.FileMode(f.mode))
			h.Method = zip.Store
		}
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
