package torchfile

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

// File is an open file of torch.save. Its methods except Close are safe for concurrent use.
type File struct {
	file    *os.File
	tensors []*Tensor
}

// Open opens a file and reads everything except the elements of tensors. Errors name the file.
func Open(path string) (*File, error) {
	// Stat before opening: opening a pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: found %v, expected a regular file", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	tensors, err := Read(f, info.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{f, tensors}, nil
}

// Tensors returns the tensors in the order of the file. They must not be read after Close.
func (f *File) Tensors() []*Tensor { return f.tensors }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Detect reports whether the file at path begins as torch.save writes it, in either layout. It
// returns false for a file that it cannot read.
func Detect(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if legacyBegin(f) > 0 {
		return true
	}
	_, err = openArchive(f, info.Size())
	return err == nil
}

// Limits of the tensors of a file.
const (
	maxTensors = 1 << 16
	maxName    = 1000 // bytes
	maxDepth   = 32   // of dicts and lists
	maxShared  = 8    // bytes of tensors for each byte of the file
	minBytes   = 1 << 20
)

// Read reads the tensors in r, which has size bytes. r must be readable as long as they are. Calls
// of a Tensor's methods may run concurrently if those of r may.
//
// The name of a tensor is its path in the saved object, with the keys of dicts and the indices of
// lists and tuples, joined by dots: "model.encoder.weight" for {"model": {"encoder.weight": …}}, ""
// for a tensor without a dict. Other values are ignored. A tensor with several names is returned
// with each of them.
func Read(r io.ReaderAt, size int64) ([]*Tensor, error) {
	root, err := load(r, size)
	if err != nil {
		return nil, err
	}
	c := collector{left: maxValues, bytes: maxShared*size + minBytes, seen: map[string]bool{}}
	if err := c.collect("", root, 0); err != nil {
		return nil, err
	}
	return c.tensors, nil
}

// collector lists the tensors in a value.
type collector struct {
	tensors []*Tensor
	left    int   // values
	bytes   int64 // of tensors, that are left
	seen    map[string]bool
}

// collect adds the tensors of v, whose name is prefix, at a depth.
func (c *collector) collect(prefix string, v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("found dicts or lists in each other at %.80q, expected at most %d", prefix, maxDepth)
	}
	switch v := v.(type) {
	case *view:
		return c.add(prefix, v)
	case *dict:
		for i, key := range v.keys {
			if err := c.element(prefix, key, v.values[i], depth); err != nil {
				return err
			}
		}
	case *list:
		return c.elements(prefix, v.items, depth)
	case []any:
		return c.elements(prefix, v, depth)
	}
	return nil
}

// elements adds the tensors of a list or tuple.
func (c *collector) elements(prefix string, items []any, depth int) error {
	for i, item := range items {
		if err := c.element(prefix, int64(i), item, depth); err != nil {
			return err
		}
	}
	return nil
}

// element adds the tensors of the value of a key in prefix.
func (c *collector) element(prefix string, key, v any, depth int) error {
	if c.left--; c.left < 0 {
		return fmt.Errorf("found more than %d values, expected fewer", maxValues)
	}
	switch v.(type) {
	case *view, *dict, *list, []any:
	default:
		return nil
	}
	name, ok := key.(string)
	if i, isInt := key.(int64); isInt {
		name, ok = strconv.FormatInt(i, 10), true
	}
	switch {
	case !ok:
		return fmt.Errorf("found a key in %.80q that is neither text nor an integer, expected the name of a tensor", prefix)
	case len(prefix)+1+len(name) > maxName:
		return fmt.Errorf("found the name %.80q in %.80q, expected at most %d bytes in all", name, prefix, maxName)
	case prefix != "":
		name = prefix + "." + name
	}
	return c.collect(name, v, depth+1)
}

// add adds a tensor.
func (c *collector) add(name string, v *view) error {
	c.bytes -= v.bytes()
	switch {
	case len(c.tensors) == maxTensors:
		return fmt.Errorf("found more than %d tensors, expected fewer", maxTensors)
	case c.seen[name]:
		return fmt.Errorf("tensor %.80q: found twice", name)
	case c.bytes < 0:
		return fmt.Errorf("tensor %.80q: found tensors that share their elements, in all more than %d times the size of the file", name, maxShared)
	}
	c.seen[name] = true
	c.tensors = append(c.tensors, &Tensor{name, v.elem.dtype, v.shape, v})
	return nil
}
