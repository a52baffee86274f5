package digits

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Side is the number of rows and of columns of an image.
const Side = 28

const (
	pixels  = Side * Side
	classes = 10
)

// Set is images with their labels.
type Set struct {
	Pixels []byte  // [images × Side × Side]; 0 is the background
	Labels []int32 // of each image, 0 to 9
}

// Len returns the number of images.
func (s Set) Len() int { return len(s.Labels) }

// Split returns the first Len()-n images and the last n.
func (s Set) Split(n int) (first, last Set) {
	at := s.Len() - n
	return Set{s.Pixels[:at*pixels], s.Labels[:at]}, Set{s.Pixels[at*pixels:], s.Labels[at:]}
}

// Load reads the training set and the test set of MNIST: the four files of folder dir under their
// published names, with or without .gz.
func Load(dir string) (training, test Set, err error) {
	if training, err = load(dir, "train"); err == nil {
		test, err = load(dir, "t10k")
	}
	return training, test, err
}

func load(dir, name string) (Set, error) {
	images, pixels, err := readFile(dir, name+"-images-idx3-ubyte", Side, Side)
	if err != nil {
		return Set{}, err
	}
	path, labels, err := readFile(dir, name+"-labels-idx1-ubyte")
	if err != nil {
		return Set{}, err
	}
	if n := len(pixels) / (Side * Side); n != len(labels) {
		return Set{}, fmt.Errorf("%s: found %d labels, expected one for each of the %d images of %s", path, len(labels), n, images)
	}
	s := Set{pixels, make([]int32, len(labels))}
	for i, l := range labels {
		if l >= classes {
			return Set{}, fmt.Errorf("%s: label of image %d is %d, expected 0 to %d", path, i, l, classes-1)
		}
		s.Labels[i] = int32(l)
	}
	return s, nil
}

// readFile reads the idx file dir/name or, if that does not exist, dir/name.gz, and returns its
// path and data.
func readFile(dir, name string, shape ...int) (path string, data []byte, err error) {
	path = filepath.Join(dir, name)
	file, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if file, err = os.ReadFile(path + ".gz"); errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("%s: no such file, nor %s.gz", path, name)
		}
		path += ".gz"
	}
	if err != nil {
		return "", nil, err
	}
	data, err = readIDX(bytes.NewReader(file), int64(len(file)), shape)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return path, data, nil
}

// readIDX reads an idx file of unsigned bytes, gzipped or not, and returns its items, each of the
// given shape; the empty shape is one byte. size is the file's size.
//
// The format, big-endian: two zero bytes, the element type (8: unsigned byte), the number of
// dimensions; the size of each dimension in 32 bits, the number of items first; the items.
//
// The length in the header is compared with the file's size before memory is allocated. Deflate
// expands at most 1032-fold.
func readIDX(r io.Reader, size int64, shape []int) ([]byte, error) {
	const unsignedBytes, gzipMagic, expansion = 8, "\x1f\x8b", 1032
	b := bufio.NewReader(r)
	r = b
	start, _ := b.Peek(len(gzipMagic))
	gzipped := string(start) == gzipMagic
	if gzipped {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, truncated(err)
		}
		r = z
	}

	header := make([]byte, 4*(2+len(shape)))
	got, err := io.ReadFull(r, header)
	magic := uint32(unsignedBytes<<8 | 1 + len(shape))
	if found := binary.BigEndian.Uint32(header); got >= 4 && found != magic {
		return nil, fmt.Errorf("found the magic number %#08x, expected %#08x: an idx file of bytes in %d dimensions", found, magic, 1+len(shape))
	}
	if err != nil {
		return nil, fmt.Errorf("found %d bytes, expected a header of %d: %w", got, len(header), truncated(err))
	}
	n := int64(binary.BigEndian.Uint32(header[4:]))
	item := int64(1)
	for i, expected := range shape {
		if found := binary.BigEndian.Uint32(header[8+4*i:]); found != uint32(expected) {
			return nil, fmt.Errorf("dimension %d is %d, expected %d: images of %d × %d pixels", i+2, found, expected, Side, Side)
		}
		item *= int64(expected)
	}
	length := n * item
	switch total := length + int64(len(header)); {
	case n == 0:
		return nil, errors.New("found 0 items, expected at least 1")
	case !gzipped && size != total:
		return nil, fmt.Errorf("found %d bytes, expected %d for the %d items of the header", size, total, n)
	case gzipped && total/expansion > size:
		return nil, fmt.Errorf("found %d gzipped bytes, too few to expand to the %d for the %d items of the header", size, total, n)
	}

	data := make([]byte, length)
	if got, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("found %d of the %d bytes of %d items: %w", got, length, n, truncated(err))
	}
	// reading to EOF also verifies gzip's checksum
	switch _, err := io.ReadFull(r, header[:1]); err {
	case io.EOF:
		return data, nil
	case nil:
		return nil, fmt.Errorf("found more than the %d bytes of %d items", length, n)
	default:
		return nil, truncated(err)
	}
}

// truncated replaces the error of a premature end by a clearer one.
func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file is truncated")
	}
	return err
}
