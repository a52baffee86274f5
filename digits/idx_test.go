package digits

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// idx returns an idx file of bytes.
func idx(magic uint32, shape []uint32, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, magic)
	for _, n := range shape {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, data...)
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// sample returns n images: noise with a bright square whose place depends on the label.
func sample(n int, seed uint64) Set {
	r := rand.New(rand.NewPCG(seed, 0))
	s := Set{make([]byte, n*pixels), make([]int32, n)}
	for i := range s.Labels {
		label, image := r.IntN(classes), s.Pixels[i*pixels:][:pixels]
		for j := range image {
			image[j] = byte(r.IntN(50))
		}
		for y := range 5 {
			for x := range 5 {
				image[(4+label/5*12+y)*Side+2+label%5*5+x] = 250
			}
		}
		s.Labels[i] = int32(label)
	}
	return s
}

func (s Set) files() (images, labels []byte) {
	for _, l := range s.Labels {
		labels = append(labels, byte(l))
	}
	n := uint32(s.Len())
	return idx(0x803, []uint32{n, Side, Side}, s.Pixels), idx(0x801, []uint32{n}, labels)
}

func writeFile(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	training, test := sample(7, 1), sample(3, 2)
	images, labels := training.files()
	writeFile(t, dir, "train-images-idx3-ubyte.gz", gzipped(images))
	writeFile(t, dir, "train-labels-idx1-ubyte", labels)
	images, labels = test.files()
	writeFile(t, dir, "t10k-images-idx3-ubyte", images)
	writeFile(t, dir, "t10k-labels-idx1-ubyte", gzipped(labels)) // gzip is detected by content
	gotTraining, gotTest, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]Set{{gotTraining, training}, {gotTest, test}} {
		if !bytes.Equal(s[0].Pixels, s[1].Pixels) || !slices.Equal(s[0].Labels, s[1].Labels) {
			t.Error("Load does not return the set that was written")
		}
	}
	first, last := gotTraining.Split(2)
	if first.Len() != 5 || last.Len() != 2 || !bytes.Equal(last.Pixels, training.Pixels[5*pixels:]) || last.Labels[0] != training.Labels[5] {
		t.Errorf("Split(2) = sets of %d and %d images, want the first 5 and the last 2", first.Len(), last.Len())
	}
}

func TestLoadErrors(t *testing.T) {
	images, labels := sample(4, 1).files()
	const imagesFile, labelsFile = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	bits := func(b []byte, at int) []byte {
		b = slices.Clone(b)
		b[at] ^= 0xff
		return b
	}
	n := uint32(4)
	for _, c := range []struct {
		name  string
		data  []byte
		wants []string
	}{
		{imagesFile, labels, []string{imagesFile, "magic number 0x00000801", "expected 0x00000803"}},
		{labelsFile, images, []string{labelsFile, "magic number 0x00000803", "expected 0x00000801"}},
		{imagesFile, idx(0xd03, []uint32{n, Side, Side}, nil), []string{"magic number 0x00000d03"}},
		{imagesFile, idx(0x803, []uint32{n, 32, Side}, nil), []string{"dimension 2 is 32, expected 28"}},
		{imagesFile, idx(0x803, []uint32{n, Side, 27}, nil), []string{"dimension 3 is 27, expected 28"}},
		{imagesFile, idx(0x803, []uint32{0, Side, Side}, nil), []string{"0 items"}},
		{imagesFile, nil, []string{"0 bytes", "header of 16"}},
		{imagesFile, images[:9], []string{"9 bytes", "header of 16"}},
		{imagesFile, images[:len(images)-1], []string{"3151 bytes, expected 3152 for the 4 items"}},
		{imagesFile, append(slices.Clone(images), 0), []string{"3153 bytes, expected 3152"}},
		// The header's length is 3 TB.
		{imagesFile, idx(0x803, []uint32{1<<32 - 1, Side, Side}, nil), []string{"16 bytes, expected 3367254359296"}},
		{imagesFile, gzipped(idx(0x803, []uint32{1<<32 - 1, Side, Side}, nil)), []string{"too few to expand to the 3367254359296"}},
		{imagesFile, gzipped(images[:len(images)-1]), []string{"3135 of the 3136 bytes", "is truncated"}},
		{imagesFile, gzipped(append(slices.Clone(images), 0)), []string{"more than the 3136 bytes"}},
		{imagesFile, gzipped(images)[:900], []string{"of the 3136 bytes", "is truncated"}},
		{imagesFile, gzipped(images)[:5], []string{"is truncated"}},
		{imagesFile, gzipped(images)[:len(gzipped(images))-3], []string{"is truncated"}},
		{imagesFile, bits(gzipped(images), len(gzipped(images))-8), []string{imagesFile, "checksum"}},
		{labelsFile, idx(0x801, []uint32{3}, []byte{1, 2, 3}), []string{labelsFile, "3 labels, expected one for each of the 4 images of"}},
		{labelsFile, idx(0x801, []uint32{4}, []byte{1, 2, 10, 3}), []string{labelsFile, "label of image 2 is 10, expected 0 to 9"}},
	} {
		dir := t.TempDir()
		writeFile(t, dir, imagesFile, images)
		writeFile(t, dir, labelsFile, labels)
		writeFile(t, dir, c.name, c.data)
		_, _, err := Load(dir)
		if err == nil {
			t.Errorf("%s of %d bytes: no error, want %q", c.name, len(c.data), c.wants)
			continue
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q, want %q in it", err, want)
			}
		}
	}
	if _, _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "train-images-idx3-ubyte: no such file, nor train-images-idx3-ubyte.gz") {
		t.Errorf("empty folder: error %v", err)
	}
}

func FuzzReadIDX(f *testing.F) {
	images, labels := sample(2, 1).files()
	f.Add(images, true)
	f.Add(gzipped(images), true)
	f.Add(labels, false)
	f.Add(gzipped(labels), false)
	f.Fuzz(func(t *testing.T, file []byte, image bool) {
		var shape []int
		item := 1
		if image {
			shape, item = []int{Side, Side}, pixels
		}
		data, err := readIDX(bytes.NewReader(file), int64(len(file)), shape)
		if err == nil && (len(data) == 0 || len(data)%item != 0) {
			t.Errorf("readIDX returned %d bytes, want a positive multiple of %d", len(data), item)
		}
	})
}
