package decode

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/safetensors"
)

// toyShortlist fits toy: 11 pieces on each side.
func toyShortlist() *Shortlist {
	return &Shortlist{
		Always: []int32{2, 5, 9},
		Starts: []int32{0, 0, 0, 0, 3, 3, 5, 5, 6, 6, 6, 7},
		Pieces: []int32{3, 6, 10, 3, 4, 10, 7},
	}
}

func TestShortlistOfASource(t *testing.T) {
	s, set := toyShortlist(), []uint64(nil)
	for _, c := range []struct{ src, more, want []int32 }{
		{nil, nil, []int32{2, 5, 9}},
		{[]int32{3, 5, 3}, nil, []int32{2, 3, 4, 5, 6, 9, 10}},
		{[]int32{10, 4}, []int32{8, 2, 8}, []int32{2, 5, 7, 8, 9}},
		{nil, []int32{700}, []int32{2, 5, 9, 700}},
		{[]int32{7}, nil, []int32{2, 5, 9, 10}},
	} {
		if got := s.List([]int32{-1}, c.src, c.more, &set); !slices.Equal(got, append([]int32{-1}, c.want...)) {
			t.Errorf("list of %v with %v = %v, want %v after -1", c.src, c.more, got, c.want)
		}
	}
	s.Fill = ShortlistFill{Multiple: 4, Limit: 11}
	for _, c := range []struct{ src, want []int32 }{
		{nil, []int32{2, 3, 5, 9}},
		{[]int32{3, 5, 3}, []int32{2, 3, 4, 5, 6, 7, 9, 10}},
		{[]int32{3, 5, 10}, []int32{2, 3, 4, 5, 6, 7, 9, 10}},
	} {
		if got := s.List(nil, c.src, nil, &set); !slices.Equal(got, c.want) {
			t.Errorf("filled list of %v = %v, want %v", c.src, got, c.want)
		}
	}
	if s.Fill.Multiple = 16; len(s.List(nil, nil, nil, &set)) != 9 { // all pieces
		t.Errorf("list of %v", s.List(nil, nil, nil, &set))
	}
	buf := make([]int32, 0, 100)
	if n := testing.AllocsPerRun(10, func() { s.List(buf, []int32{3, 5}, nil, &set) }); n > 0 {
		t.Errorf("List: %v allocations", n)
	}
}

// A file keeps its Shortlist, as do a copy with other Settings and files for decoding, in which a
// damaged list is an error too. A copy with another Shortlist has only that.
func TestShortlistOfAFile(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "m"), filepath.Join(dir, "copy")
	load := func(path string) *Shortlist {
		t.Helper()
		f := loadFile(t, path, Float32, nil)
		f.Weights.Close()
		return f.Shortlist
	}
	f := model.File{Model: newModel(t, toy()), Tokenizers: map[string][]byte{"joint": {1, 2, 3}}}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	if s := load(path); s != nil {
		t.Errorf("Shortlist of a file without one: %+v", s)
	}
	if err := CopyWithShortlist(path, copied, toyShortlist()); err != nil {
		t.Fatal(err)
	}
	if s := load(copied); !reflect.DeepEqual(s, toyShortlist()) {
		t.Errorf("Shortlist %+v, want %+v", s, toyShortlist())
	}
	other := toyShortlist()
	other.Always, other.Fill = []int32{2}, ShortlistFill{8, 11}
	if err := CopyWithShortlist(copied, path, other); err != nil {
		t.Fatal(err)
	}
	if err := CopyWithSettings(path, copied, PaperSettings()); err != nil {
		t.Fatal(err)
	}
	if s := load(copied); !reflect.DeepEqual(s, other) {
		t.Errorf("Shortlist %+v, want %+v", s, other)
	}
	if err := loadFile(t, path, Int8, nil).Save(copied); err != nil {
		t.Fatal(err)
	}
	for form, path := range map[Form]string{Float32: path, Int8: copied} {
		if s := loadFile(t, path, form, nil).Shortlist; !reflect.DeepEqual(s, other) {
			t.Errorf("%v: Shortlist %+v, want %+v", form, s, other)
		}
		damaged := rewrite(t, path, func(_ map[string]string, tensors []safetensors.Tensor) []safetensors.Tensor {
			i := slices.IndexFunc(tensors, func(x safetensors.Tensor) bool { return x.Name == "shortlist.always" })
			tensors[i].Data = []byte{1, 0, 0, 0}
			return tensors
		})
		if _, err := Load(damaged, form, nil); err == nil || !strings.HasPrefix(err.Error(), damaged+`: tensor "shortlist.always": found id 1`) {
			t.Errorf("%v: error %v of a damaged list", form, err)
		}
	}
	other.Starts = other.Starts[1:]
	if err := CopyWithShortlist(path, copied, other); err == nil || !strings.HasPrefix(err.Error(), path+`: tensor "shortlist.starts": found 11 elements, expected 12`) {
		t.Errorf("error %v of a Shortlist for another vocabulary", err)
	}
}

func TestDamagedShortlists(t *testing.T) {
	c := toy()
	path := filepath.Join(t.TempDir(), "m")
	meta, tensors, err := model.File{Model: newModel(t, c)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		damage func(s *Shortlist)
		want   string
	}{
		"empty always":       {func(s *Shortlist) { s.Always = nil }, `tensor "shortlist.always": found no id 2, expected the end`},
		"no EOS":             {func(s *Shortlist) { s.Always[0] = 3 }, `tensor "shortlist.always": found no id 2, expected the end`},
		"unsorted always":    {func(s *Shortlist) { s.Always[2] = 4 }, `tensor "shortlist.always": found id 4 at index 2 after 5, expected ascending ids`},
		"BOS":                {func(s *Shortlist) { s.Always[0] = model.BOS }, `tensor "shortlist.always": found id 1 at index 0, expected 2 to 10`},
		"large id":           {func(s *Shortlist) { s.Pieces[4] = 11 }, `tensor "shortlist.pieces": found id 11 at index 4, expected 2 to 10`},
		"negative id":        {func(s *Shortlist) { s.Pieces[0] = -7 }, `tensor "shortlist.pieces": found id -7 at index 0, expected 2 to 10`},
		"repeated id":        {func(s *Shortlist) { s.Pieces[1] = 3 }, `tensor "shortlist.pieces": found id 3 at index 1 after 3, expected ascending ids`},
		"other vocabulary":   {func(s *Shortlist) { s.Starts = append(s.Starts, 7) }, `tensor "shortlist.starts": found 13 elements, expected 12 for 11 source pieces`},
		"first start":        {func(s *Shortlist) { s.Starts[0] = 1 }, `tensor "shortlist.starts": found 1 at index 0, expected ascending indices from 0 to 7`},
		"descending starts":  {func(s *Shortlist) { s.Starts[5] = 1 }, `tensor "shortlist.starts": found 1 at index 5`},
		"start past the end": {func(s *Shortlist) { s.Starts[5] = 8 }, `tensor "shortlist.starts": found 8 at index 5`},
		"large multiple":     {func(s *Shortlist) { s.Fill = ShortlistFill{1025, 11} }, `tensor "shortlist.fill": found {1025 11}, expected a multiple of 1 to 1024 and a limit of 3 to 11`},
		"large limit":        {func(s *Shortlist) { s.Fill = ShortlistFill{8, 12} }, `tensor "shortlist.fill": found {8 12}`},
		"last start":         {func(s *Shortlist) { s.Pieces = append(s.Pieces, 8) }, `tensor "shortlist.starts": found 7 at index 11`},
	} {
		s := toyShortlist()
		test.damage(s)
		if err := safetensors.Write(path, meta, append(slices.Clone(tensors), s.Tensors()...)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, Float32, nil); err == nil || !strings.HasPrefix(err.Error(), path+": "+test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	good := toyShortlist().Tensors()
	square := good[1]
	square.Shape = []int{3, 4}
	for want, list := range map[string][]safetensors.Tensor{
		`tensor "shortlist.fill": found 1 elements, expected 2`:                append(slices.Clone(good), safetensors.Int32Tensor("shortlist.fill", []int32{8})),
		`tensor "shortlist.pieces" is missing`:                                 good[:2],
		`tensor "shortlist.always" is missing`:                                 good[1:],
		`tensor "shortlist.always": found dtype "F32", expected I32`:           {safetensors.Float32Tensor("shortlist.always", []int{1}, []float32{1}), good[1], good[2]},
		`tensor "shortlist.starts": found shape [3 4], expected one dimension`: {good[0], square, good[2]},
	} {
		if err := safetensors.Write(path, meta, append(slices.Clone(tensors), list...)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, Float32, nil); err == nil || !strings.HasPrefix(err.Error(), path+": "+want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
