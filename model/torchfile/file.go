package torchfile

import (
	"errors"
	"fmt"
	"io"
	"os"
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

// ErrFormat is wrapped by the errors of files that torch.save has not written, or that are
// truncated.
var ErrFormat = errors.New("found no file of torch.save, or a truncated one")

const maxName = 1000 // bytes of the name of a tensor

// Read reads the tensors in r, which has size bytes. r must be readable as long as they are. Calls
// of a Tensor's methods may run concurrently if those of r may.
//
// The name of a tensor is its key in the saved dict, after those of the dicts around it, joined by
// dots: "model.encoder.weight" for {"model": {"encoder.weight": …}}. Other values are ignored, such
// as lists. A tensor with several names is returned with each of them, and two with the same name
// are two tensors.
func Read(r io.ReaderAt, size int64) ([]*Tensor, error) {
	root, err := load(r, size)
	if err != nil {
		return nil, err
	}
	c := collector{left: maxValues}
	if d, ok := root.(*dict); ok {
		err = c.collect("", d)
	}
	return c.tensors, err
}

// collector lists the tensors in a value.
type collector struct {
	tensors []*Tensor
	left    int // values
}

// collect adds the tensors of d, whose names begin with prefix.
func (c *collector) collect(prefix string, d *dict) error {
	for i, key := range d.keys {
		if c.left--; c.left < 0 {
			return fmt.Errorf("found more than %d values, expected fewer", maxValues)
		}
		name, ok := key.(string)
		if !ok {
			continue
		}
		if len(prefix)+len(name) > maxName {
			return fmt.Errorf("found the name %.80q in %.80q, expected at most %d bytes in all", name, prefix, maxName)
		}
		switch v := d.values[i].(type) {
		case *view:
			c.tensors = append(c.tensors, &Tensor{prefix + name, v.elem.dtype, v.shape, v})
		case *dict:
			if err := c.collect(prefix+name+".", v); err != nil { // ends, because the prefix grows
				return err
			}
		}
	}
	return nil
}
