package digits

import (
	"bufio"
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
	Pixels []byte  // of image after image, row after row; 0 is the background
	Labels []int32 // 0 to 9
}

// Len is the number of images.
func (s Set) Len() int { return len(s.Labels) }

// Split returns all images except the last n, and the last n.
func (s Set) Split(n int) (first, last Set) {
	at := s.Len() - n
	return Set{s.Pixels[:at*pixels], s.Labels[:at]}, Set{s.Pixels[at*pixels:], s.Labels[at:]}
}

// Load reads the four files of MNIST in folder dir, under the names that they were published with,
// with .gz or without: the training set and the test set. An error names the file, what was found
// and what was expected.
func Load(dir string) (training, test Set, err error) {
	if training, err = load(dir, "train"); err != nil {
		return Set{}, Set{}, err
	}
	if test, err = load(dir, "t10k"); err != nil {
		return Set{}, Set{}, err
	}
	return training, test, nil
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
		return Set{}, fmt.Errorf("%s: %d labels, expected one for each of the %d images of %s", path, len(labels), n, images)
	}
	s := Set{pixels, make([]int32, len(labels))}
	for i, l := range labels {
		if l >= classes {
			return Set{}, fmt.Errorf("%s: label %d is %d, expected 0 to %d", path, i, l, classes-1)
		}
		s.Labels[i] = int32(l)
	}
	return s, nil
}

// readFile reads an idx file in dir, or if there is none, its .gz.
func readFile(dir, name string, shape ...int) (path string, data []byte, err error) {
	path = filepath.Join(dir, name)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.Open(path + ".gz"); errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("%s: no such file, and no %s.gz", path, name)
		}
		path += ".gz"
	}
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	data, err = readIDX(f, info.Size(), shape)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return path, data, nil
}

// readIDX reads a file of size bytes, packed by gzip or not, that holds bytes in as many items as
// it says, each of a given shape; no size is a label. The format, all numbers big-endian: 0, 0, the
// type (8 is unsigned bytes), the number of dimensions; 32 bits for each of these; the items.
//
// What the file says of its length is compared with its size before memory is taken: deflate makes
// at most 1032 bytes of one.
func readIDX(r io.Reader, size int64, shape []int) ([]byte, error) {
	const unsignedBytes, gzipMagic, expansion = 8, "\x1f\x8b", 1032
	b := bufio.NewReader(r)
	start, _ := b.Peek(len(gzipMagic))
	packed := string(start) == gzipMagic
	if packed {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, cut(err)
		}
		r = z
	} else {
		r = b
	}

	header := make([]byte, 4*(2+len(shape)))
	got, err := io.ReadFull(r, header)
	magic := uint32(unsignedBytes<<8 | 1 + len(shape))
	if found := binary.BigEndian.Uint32(header); got >= 4 && found != magic {
		return nil, fmt.Errorf("magic number %#08x, expected %#08x: an idx file of bytes in %d dimensions", found, magic, 1+len(shape))
	}
	if err != nil {
		return nil, fmt.Errorf("%d bytes, expected a header of %d: %w", got, len(header), cut(err))
	}
	n := int64(binary.BigEndian.Uint32(header[4:]))
	item := int64(1)
	for i, expected := range shape {
		if found := binary.BigEndian.Uint32(header[8+4*i:]); found != uint32(expected) {
			return nil, fmt.Errorf("dimension %d is %d, expected %d: images of %d × %d", i+2, found, expected, Side, Side)
		}
		item *= int64(expected)
	}
	want := n * item
	switch whole := want + int64(len(header)); {
	case n == 0:
		return nil, errors.New("0 items, expected some")
	case !packed && size != whole:
		return nil, fmt.Errorf("%d bytes, expected %d for the %d items that it says it has", size, whole, n)
	case packed && whole/expansion > size:
		return nil, fmt.Errorf("%d bytes, too few to unpack to the %d for the %d items that it says it has", size, whole, n)
	}

	data := make([]byte, want)
	if got, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("%d of the %d bytes of %d items: %w", got, want, n, cut(err))
	}
	switch _, err := io.ReadFull(r, header[:1]); err { // for gzip this also compares the checksum
	case io.EOF:
		return data, nil
	case nil:
		return nil, fmt.Errorf("more than the %d bytes of %d items", want, n)
	default:
		return nil, cut(err)
	}
}

// cut says of the end of a file that it came too early.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends too early")
	}
	return err
}
