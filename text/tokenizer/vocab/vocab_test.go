package vocab

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/subword"
)

func trained(t *testing.T, joint bool, size int) Tokenizers {
	t.Helper()
	var tr Trainer
	lines := texttest.Lines(200)
	for i, l := range lines[:100] {
		tr.Add(text.Pair{Source: l, Target: lines[100+i]})
	}
	p, err := tr.Train(size, joint)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTokenizersMarshal(t *testing.T) {
	for joint, keys := range map[bool][]string{true: {"joint"}, false: {"source", "target"}} {
		p := trained(t, joint, 300)
		files, err := p.Marshal()
		if got := slices.Sorted(maps.Keys(files)); err != nil || p.Joint() != joint || !slices.Equal(got, keys) {
			t.Fatalf("joint %v: Joint() = %v, keys %q, error %v; want keys %q", joint, p.Joint(), got, err, keys)
		}
		q, err := UnmarshalTokenizers(files)
		if err != nil {
			t.Fatal(err)
		}
		if q.Joint() != joint {
			t.Errorf("decoded: Joint() = %v, want %v", q.Joint(), joint)
		}
		if same, err := p.Equal(q); err != nil || !same {
			t.Errorf("joint %v: Equal to the decoded ones = %v, %v, want true", joint, same, err)
		}
		if same, err := p.Equal(trained(t, joint, 301)); err != nil || same {
			t.Errorf("joint %v: Equal to larger ones = %v, %v, want false", joint, same, err)
		}
		if same, err := p.Equal(trained(t, !joint, 300)); err != nil || same {
			t.Errorf("joint %v: Equal to ones with joint %v = %v, %v, want false", joint, !joint, same, err)
		}
	}
}

// byValue is a tokenizer that Go cannot compare.
type byValue struct {
	text.Tokenizer
	pieces []string
}

func TestJointIncomparableTokenizers(t *testing.T) {
	bpe := trained(t, true, 300).Source
	for _, p := range []Tokenizers{{byValue{bpe, nil}, byValue{bpe, nil}}, {byValue{bpe, nil}, bpe}, {bpe, byValue{bpe, nil}}} {
		if p.Joint() {
			t.Errorf("%T and %T: Joint() = true, want false", p.Source, p.Target)
		}
		if files, err := p.Marshal(); len(files) != 2 || err != nil {
			t.Errorf("%T and %T: %d keys, error %v; want 2", p.Source, p.Target, len(files), err)
		}
	}
}

func TestUnmarshalTokenizersErrors(t *testing.T) {
	good, err := trained(t, true, 300).Source.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string]map[string][]byte{
		`found 0 tokenizers, [], expected "joint", or "source" and "target"`: nil,
		`found 1 tokenizers, ["source"], expected`:                           {"source": good},
		`found 2 tokenizers, ["joint" "source"], expected`:                   {"joint": good, "source": good},
		`found 2 tokenizers, ["other" "source"], expected`:                   {"other": good, "source": good},
		`joint tokenizer: unknown kind of tokenizer: 2 bytes that begin`:     {"joint": []byte("PK")},
		`target tokenizer: byte-level BPE: version 9, expected 1`:            {"source": good, "target": []byte(bpe.Magic + "\x09")},
		`joint tokenizer: unknown kind of tokenizer: 0 bytes that begin`:     {"joint": nil},
	} {
		if p, err := UnmarshalTokenizers(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("UnmarshalTokenizers(%q) = %v, error %v; want error %q", files, p, err, want)
		}
	}
}

// A file with many tokenizers is rejected before they are decoded, because each allocates megabytes
// for its cache.
func TestUnmarshalTokenizersTooMany(t *testing.T) {
	empty := append([]byte(bpe.Magic), 1, 0)
	files := map[string][]byte{"joint": empty}
	for i := range 1000 {
		files[fmt.Sprint("tokenizer", i)] = empty
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := UnmarshalTokenizers(files)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), `expected "joint"`) || len(err.Error()) > 500 {
		t.Errorf("error %.600v, want one of at most 500 bytes", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("allocated %d bytes, want at most %d", used, 1<<20)
	}
}

func TestIsTokenizer(t *testing.T) {
	for start, want := range map[string]bool{
		bpe.Magic + "\x01\x00":               true,
		bpe.Magic:                            true,
		"tfm-":                               false,
		"":                                   false,
		"\x08\x00\x00\x00\x00\x00\x00\x00{}": false,
		"\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02": true,
		"\x0a\x02\x0a\x00":                             false, // an empty piece
		"\x0a\x0a\x00\x00\x00\x00\x00\x00{}":           false, // safetensors
		"\x0a\x12\x0a\x05\x00\x00\x00\x00{}":           false,
		"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": false,
		"\x0a\x05\x0a":                                 false,
	} {
		if got := IsTokenizer([]byte(start)); got != want {
			t.Errorf("IsTokenizer(%q) = %v, want %v", start, got, want)
		}
	}
}

// spm returns a small unigram model with the words as pieces.
func spm(t *testing.T, words ...string) text.Tokenizer {
	t.Helper()
	m := sentencepiece.NewModel()
	m.Pieces = []sentencepiece.Piece{
		{Text: "<unk>", Type: sentencepiece.Unknown},
		{Text: "<s>", Type: sentencepiece.Control},
		{Text: "</s>", Type: sentencepiece.Control},
	}
	for _, w := range words {
		m.Pieces = append(m.Pieces, sentencepiece.Piece{Text: w, Score: -1, Type: sentencepiece.Normal})
	}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func TestSentencepiece(t *testing.T) {
	a, b := spm(t, "▁a", "▁dog", "▁d", "o", "g"), spm(t, "g", "o", "▁d", "▁a")
	p := Tokenizers{a, b}
	files, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	q, err := UnmarshalTokenizers(files)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := p.Equal(q); err != nil || !same {
		t.Errorf("Equal to the decoded ones = %v, %v, want true", same, err)
	}
	remapped, err := Remap(a, b)
	if want := [][]int32{{0}, {1}, {2}, {3}, {7}, {6, 5, 4}, {6}, {5}, {4}}; err != nil || !reflect.DeepEqual(remapped, want) {
		t.Errorf("Remap = %v, error %v, want %v", remapped, err, want)
	}
	if _, err := Remap(a, trained(t, true, 300).Source); err == nil || !strings.Contains(err.Error(), "different kinds") {
		t.Errorf("tokenizers of different kinds: error %v", err)
	}
}

// A tokenizer of subword-nmt is decoded, and its ids are mapped to those of another.
func TestSubword(t *testing.T) {
	var pair [2]text.Tokenizer
	for i, data := range []string{
		"\x01\x02\x00\x01\x01a\x05b</w>\x03\x03a@@\x07\x02ab\x03\x01b\x01",
		"\x01\x02\x00\x00\x02\x01b\x01\x03a@@\x07",
	} {
		tok, err := Unmarshal([]byte(subword.Magic + data))
		if err != nil {
			t.Fatal(err)
		}
		pair[i] = tok
	}
	got, err := Remap(pair[0], pair[1])
	want := [][]int32{{0}, {1}, {2}, {3}, {5}, {5, 4}, {4}}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("Remap = %v, %v, want %v", got, err, want)
	}
	if _, err := Remap(pair[0], trained(t, true, 300).Source); err == nil {
		t.Error("Remap of subword-nmt to byte-level BPE: no error")
	}
}

type other struct{ text.Tokenizer }

func TestRemap(t *testing.T) {
	a, b := trained(t, true, 300).Source, trained(t, true, 400).Source
	remapped, err := Remap(a, b)
	if err != nil || len(remapped) != a.Size() {
		t.Fatalf("%d ids, error %v; want %d", len(remapped), err, a.Size())
	}
	if _, err := Remap(a, other{b}); err == nil || !strings.Contains(err.Error(), "different kinds") {
		t.Errorf("tokenizers of different kinds: error %v", err)
	}
}

func ExampleTokenizers() {
	var t Trainer
	t.Add(text.Pair{Source: "ein Hund, ein Hund", Target: "a dog, a dog"})
	p, err := t.Train(270, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, ranges := p.Source.EncodeRanges(nil, nil, "ein Hund")
	for i, r := range ranges {
		fmt.Println(p.Source.Piece(ids[i]), r)
	}
	fmt.Println(p.Target.Decode(ids))
	// Output:
	// ▁ein {0 3}
	// ▁Hund {3 8}
	// ein Hund
}
