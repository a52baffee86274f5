package sentencepiece

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/tokenizer/sentencepiece/internal/charsmap"
)

func newTestTokenizer(t testing.TB, m *Model) *Tokenizer {
	t.Helper()
	tokenizer, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func TestNewErrors(t *testing.T) {
	piece := func(s string, typ PieceType) Piece { return Piece{Text: s, Type: typ, Score: -1} }
	for want, change := range map[string]func(m *Model){
		"pieces: found no unknown piece, expected one":                            func(m *Model) { m.Pieces[0].Type = Control },
		`pieces[1]: found unknown piece "<s>", expected one, which is pieces[0]`:  func(m *Model) { m.Pieces[1].Type = Unknown },
		"pieces[1]: found a piece of 0 bytes, expected 1 to 2048":                 func(m *Model) { m.Pieces[1].Text = "" },
		"pieces[1]: found a piece of 2049 bytes, expected 1 to 2048":              func(m *Model) { m.Pieces[1].Text = strings.Repeat("a", 2049) },
		`pieces[1]: found "a\x00", expected a piece without NUL`:                  func(m *Model) { m.Pieces[1].Text = "a\x00" },
		`pieces[2]: found "<s>", which is also pieces[1]`:                         func(m *Model) { m.Pieces[2].Text = "<s>" },
		`pieces[262]: score of "a": found NaN, expected a finite number`:          func(m *Model) { m.Pieces[262].Score = float32(math.NaN()) },
		`pieces[262]: score of "a": found -Inf, expected a finite number`:         func(m *Model) { m.Pieces[262].Score = float32(math.Inf(-1)) },
		`found byte piece "<0x00>", expected none without byte_fallback`:          func(m *Model) { m.Trainer.ByteFallback = false },
		`found byte piece "<0xff>", expected <0x00> to <0xFF>`:                    func(m *Model) { m.Pieces[5].Text = "<0xff>" },
		`pieces: found no byte piece "<0x00>", expected all 256`:                  func(m *Model) { m.Pieces[5] = piece("x", Normal) },
		"normalizer_spec: precompiled_charsmap: found 1 bytes, expected at least": func(m *Model) { m.Normalizer.PrecompiledCharsmap = []byte{1} },
		"denormalizer_spec: found a map of 1 bytes, expected none":                func(m *Model) { m.Denormalizer.PrecompiledCharsmap = []byte{1} },
	} {
		m := testModel()
		change(m)
		if _, err := New(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	data := marshal(t, testModel())
	at := strings.Index(string(data), "</s>")
	copy(data[at:], "</u>")
	m, err := UnmarshalModel(data)
	if err != nil {
		t.Fatal(err)
	}
	m.Pieces[3].Text = "</u>"
	if _, err := New(m); err == nil || !strings.HasPrefix(err.Error(), "pieces[3] at offset ") {
		t.Errorf("error %v, want one with the offset", err)
	}
}

// Every model of bytes in a row is decoded or is an error.
func TestUnmarshalDamaged(t *testing.T) {
	m := testModel()
	m.Normalizer.PrecompiledCharsmap = testCharsmap()
	data := marshal(t, m)
	for n := 0; n < len(data); n += 1 + n/20 {
		for _, n := range []int{n, len(data) - 1 - n} {
			if _, err := Unmarshal(data[:n]); err == nil {
				t.Fatalf("no error for the first %d of %d bytes", n, len(data))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		damaged := slices.Clone(data)
		for range 1 + r.IntN(3) {
			damaged[r.IntN(len(data))] = byte(r.Uint32())
		}
		if tokenizer, err := Unmarshal(damaged); err == nil {
			checkTokenizer(t, tokenizer, "ab abab\xff  a中éb ")
		}
	}
}

// testCharsmap maps ab to x, b to two spaces, c to nothing and é to "e e".
func testCharsmap() []byte {
	texts := "\x00x\x00  \x00e e\x00"
	nodes := make([]uint32, 1024)
	for i := range nodes {
		nodes[i] = uint32(i&0xFF ^ 0xFF) // no node has a base that ends with 0xFF
	}
	set := func(i, offset uint32, label byte, value int) {
		nodes[i] = offset<<10 | uint32(label)
		if value >= 0 {
			nodes[i] |= 1 << 8
			nodes[i^offset] = 1<<31 | uint32(value)
		}
	}
	const root = 256 // base of the root
	nodes[0] = root << 10
	child := func(base uint32, c byte) uint32 { return base ^ uint32(c) }
	base := func(i, base uint32) uint32 { return i ^ base } // offset
	a, b, c, e := child(root, 'a'), child(root, 'b'), child(root, 'c'), child(root, 0xC3)
	ab, é := child(512, 'b'), child(768, 0xA9)
	set(a, base(a, 512), 'a', -1)
	set(ab, base(ab, 600), 'b', 1)
	set(b, base(b, 601), 'b', 3)
	set(c, base(c, 602), 'c', 0)
	set(e, base(e, 768), 0xC3, -1)
	set(é, base(é, 603), 0xA9, 6)
	data := []byte{0, 16, 0, 0}
	for _, n := range nodes {
		data = append(data, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return append(data, texts...)
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct {
		change     func(n *NormalizerSpec)
		suffix     bool
		text, want string
	}{
		{nil, false, "", ""},
		{nil, false, "  ", ""},
		{nil, false, "bb", ""}, // spaces
		{nil, false, " abab  a", "▁xx▁a"},
		{nil, false, "acb  b", "▁a"},
		{nil, false, "a b", "▁a"},
		{nil, false, "ébé\xff", "▁e▁e▁▁e▁e\uFFFD"},
		{nil, true, " a b a ", "a▁a▁"},
		{func(n *NormalizerSpec) { n.AddDummyPrefix = false }, false, " a b a ", "a▁a"},
		{func(n *NormalizerSpec) { n.RemoveExtraWhitespace = false }, false, " a b a ", "▁▁a▁▁▁▁a▁"},
		{func(n *NormalizerSpec) { n.EscapeWhitespace = false }, false, " a b a ", " a a"},
		{nil, false, "▁", ""},
		{nil, false, "a\x00", "▁a\x00"},
	} {
		m := testModel()
		m.Normalizer.PrecompiledCharsmap = testCharsmap()
		m.Trainer.WhitespaceAsSuffix = c.suffix
		if c.change != nil {
			c.change(&m.Normalizer)
		}
		tokenizer := newTestTokenizer(t, m)
		if got := string(tokenizer.normalizer.Append(nil, c.text)); got != c.want {
			t.Errorf("Normalize(%q) = %q, want %q", c.text, got, c.want)
		}
		checkTokenizer(t, tokenizer, c.text)
	}
}

func TestCharsmapErrors(t *testing.T) {
	node := func(data []byte, i int, value uint32) {
		data[4+4*i], data[5+4*i], data[6+4*i], data[7+4*i] = byte(value), byte(value>>8), byte(value>>16), byte(value>>24)
	}
	for want, change := range map[string]func(data []byte) []byte{
		"found a trie of 4096 bytes, expected a multiple of 4 from 4 to 100": func(d []byte) []byte { return d[:104] },
		"found a trie of 4095 bytes, expected a multiple of 4":               func(d []byte) []byte { d[0], d[1] = 0xFF, 0x0F; return d },
		"found a trie of 0 bytes":                                            func(d []byte) []byte { d[0], d[1] = 0, 0; return d },
		"node 0 of the trie: found base 1024, expected less than 1024":       func(d []byte) []byte { node(d, 0, 1024<<10); return d },
		"node 353 of the trie: found a cycle through node 353":               func(d []byte) []byte { node(d, 353, (353^256)<<10|'a'); return d },
		"found value 0x1, expected bit 31 and an offset less than 10":        func(d []byte) []byte { node(d, 600, 1); return d },
		"found value 0x8000000a, expected bit 31 and an offset less":         func(d []byte) []byte { node(d, 600, 1<<31|10); return d },
		"found a replacement without NUL, expected at most 256 bytes":        func(d []byte) []byte { return append(d[:len(d)-1], strings.Repeat("a", 300)...) },
	} {
		if _, err := charsmap.Unmarshal(change(testCharsmap())); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := charsmap.Unmarshal(testCharsmap()); err != nil {
		t.Error(err)
	}
}

// checkTokenizer checks the properties of text.Tokenizer for s.
func checkTokenizer(t testing.TB, tokenizer *Tokenizer, s string) {
	t.Helper()
	ids := tokenizer.Encode(nil, s)
	withRanges, ranges := tokenizer.EncodeRanges(nil, nil, s)
	if again := tokenizer.Encode(nil, s); !slices.Equal(again, ids) || !slices.Equal(withRanges, ids) || len(ranges) != len(ids) {
		t.Fatalf("%q: Encode = %v, again %v, EncodeRanges = %v and %d ranges", s, ids, again, withRanges, len(ranges))
	}
	checkRanges(t, s, ranges)
	for _, id := range ids {
		if id <= text.EOS || int(id) >= tokenizer.Size() || tokenizer.FromFileID(tokenizer.FileID(id)) != id {
			t.Fatalf("%q: id %d of %d", s, id, tokenizer.Size())
		}
		if tokenizer.model.Trainer.ByteFallback && tokenizer.FileID(id) == tokenizer.unknown {
			t.Fatalf("%q: unknown piece with byte fallback", s)
		}
	}
	decoded := tokenizer.Decode(ids)
	withRangesText, ranges := tokenizer.DecodeRanges(nil, ids)
	if withRangesText != decoded || len(ranges) != len(ids) {
		t.Fatalf("%q: Decode = %q, DecodeRanges = %q and %d ranges", s, decoded, withRangesText, len(ranges))
	}
	checkRanges(t, decoded, ranges)
	if want, ok := expectedText(tokenizer, s); ok && decoded != want {
		t.Fatalf("%q decodes to %q, want %q", s, decoded, want)
	}
}

// checkRanges checks that ranges are adjacent, cover s and end between characters.
func checkRanges(t testing.TB, s string, ranges []text.Range) {
	t.Helper()
	boundary := map[int]bool{len(s): true}
	for i := range s {
		boundary[i] = true
	}
	end := 0
	for _, r := range ranges {
		if r.Start != end || r.End < end || r.End > len(s) || !boundary[r.End] {
			t.Fatalf("%q: ranges %v", s, ranges)
		}
		end = r.End
	}
	if len(ranges) > 0 && end != len(s) {
		t.Fatalf("%q: ranges %v, want them to cover the text", s, ranges)
	}
}

// expectedText returns the normalized text with spaces for ▁, without the dummy prefix, unless a
// piece is unknown, the model normalizes decoded text, or ▁ can be a sequence of byte pieces,
// which decodes to ▁.
func expectedText(t *Tokenizer, s string) (want string, ok bool) {
	normal := string(t.normalizer.Append(nil, s))
	if t.pieceID([]byte(space)) == t.unknown || !utf8.ValidString(normal) {
		return "", false
	}
	for _, id := range t.encodeFile(nil, s) {
		bytes := t.model.Pieces[id].Type == Byte
		if id == t.unknown || bytes && t.model.Trainer.ModelType == Word {
			return "", false
		}
	}
	spec := &t.model.Normalizer
	switch {
	case spec.RemoveExtraWhitespace:
		normal = strings.TrimLeft(normal, space)
	case spec.AddDummyPrefix:
		normal = strings.TrimPrefix(normal, space)
	}
	return strings.ReplaceAll(normal, space, " "), true
}

// Random models and texts. Those of BPE have the same ids without the cache of words.
func TestRandomModels(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	alphabet := append([]string{" ", " ", "x", "\xff", "a", "b", "<s>", "ab", "\t", "\x00"}, randomAlphabet...)
	for k := range 40 {
		m := randomModel(r, ModelType(1+k%4))
		tokenizer := newTestTokenizer(t, m)
		for range 30 {
			checkTokenizer(t, tokenizer, randomText(r, 40, alphabet))
		}
		whole := newTestTokenizer(t, m)
		whole.cache = nil
		for range 10 {
			s := randomText(r, 300, alphabet)
			if got, want := tokenizer.Encode(nil, s), whole.Encode(nil, s); !slices.Equal(got, want) {
				t.Fatalf("model %d: ids of %q by words:\ngot  %v\nwant %v", k, s, got, want)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	tokenizer := newTestTokenizer(t, testModel())
	if got, want := tokenizer.Size(), len(tokenizer.Model().Pieces); got != want {
		t.Errorf("Size() = %d, want %d", got, want)
	}
	var pieces []string
	for id := range int32(6) {
		pieces = append(pieces, fmt.Sprint(tokenizer.Piece(id), tokenizer.FileID(id)))
	}
	if got, want := strings.Join(pieces, " "), "<pad>3 <s>1 </s>2 <unk>0 <sep>4 <0x00>5"; got != want {
		t.Errorf("pieces %s, want %s", got, want)
	}
	for _, id := range []int32{-1, int32(tokenizer.Size()), math.MaxInt32, math.MinInt32} {
		if p, b, f, g := tokenizer.Piece(id), tokenizer.Bytes(id), tokenizer.FileID(id), tokenizer.FromFileID(id); p != "<?>" || b != "" || f != -1 || g != -1 {
			t.Errorf("id %d: piece %q, bytes %q, file id %d, id %d", id, p, b, f, g)
		}
	}
	ids := append(tokenizer.Encode([]int32{text.Pad, text.BOS}, "ab ba é"), text.EOS, -5, 1<<30)
	if got := tokenizer.Decode(ids); got != "ab ba é" {
		t.Errorf("Decode = %q", got)
	}
	if _, ranges := tokenizer.DecodeRanges(nil, ids); len(ranges) != len(ids) {
		t.Errorf("%d ranges, want %d", len(ranges), len(ids))
	}
	m := testModel() // no padding in the file
	m.Trainer.PadPiece = "<none>"
	tokenizer = newTestTokenizer(t, m)
	if got := tokenizer.Size(); got != len(m.Pieces)+1 || tokenizer.FileID(text.Pad) != -1 || tokenizer.Piece(text.Pad) != "<pad>" {
		t.Errorf("without padding: size %d, piece %q with file id %d", got, tokenizer.Piece(text.Pad), tokenizer.FileID(text.Pad))
	}
	m.Pieces = append(m.Pieces, Piece{Text: "x\u200b", Type: Normal, Score: -1})
	tokenizer = newTestTokenizer(t, m)
	if got := tokenizer.Piece(int32(tokenizer.Size() - 1)); got != "x<0xE2><0x80><0x8B>" {
		t.Errorf("piece %q", got)
	}
}

// Bytes that are no character become U+FFFD, one each.
func TestDecodeBytes(t *testing.T) {
	tokenizer := newTestTokenizer(t, testModel())
	for s, want := range map[string]string{
		"\xe4\xb8\xad":         "中",
		"\xe4\xb8":             "\uFFFD\uFFFD",
		"\xb8\xe4\xb8\xad\xe4": "\uFFFD中\uFFFD",
		"\xf0\x9f\x98\x80A":    "😀A",
		"\xed\xa0\x80":         "\uFFFD\uFFFD\uFFFD",
		"\xc3a":                "\uFFFDa",
	} {
		var ids []int32
		for _, c := range []byte(s) {
			ids = append(ids, tokenizer.FromFileID(tokenizer.bytes[c]))
		}
		got, ranges := tokenizer.DecodeRanges(nil, ids)
		if got != want {
			t.Errorf("bytes %q decode to %q, want %q", s, got, want)
		}
		checkRanges(t, got, ranges)
	}
}

func TestWords(t *testing.T) {
	for _, want := range []string{"▁a|▁▁b|▁", "a|▁b", "▁▁", "é\xe2\x96a|▁"} {
		var words []string
		for s := []byte(strings.ReplaceAll(want, "|", "")); len(s) > 0; {
			n := wordLen(s)
			words = append(words, string(s[:n]))
			s = s[n:]
		}
		if got := strings.Join(words, "|"); got != want {
			t.Errorf("words %q, want %q", got, want)
		}
	}
	m := testModel()
	m.Trainer.ModelType, m.Pieces = BPE, m.Pieces[:len(m.Pieces)-1] // the last is unused
	for piece, want := range map[string]bool{"x": true, "▁▁": true, "▁x": true, "x▁": false, "x▁y": false} {
		m.Pieces[len(m.Pieces)-1].Text = piece
		if got := newTestTokenizer(t, m).cache != nil; got != want {
			t.Errorf("encoding by words with piece %q: %v, want %v", piece, got, want)
		}
	}
}

func TestConcurrent(t *testing.T) {
	tokenizers, cases := goldens(t, "testdata")
	for name, tokenizer := range tokenizers {
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range cases[name] {
					c := cases[name][(i+g*7)%len(cases[name])]
					if got := tokenizer.encodeFile(nil, string(c.Text)); !slices.Equal(got, c.IDs) {
						t.Errorf("%s: ids of %q differ in goroutine %d", name, c.Text, g)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestEncodeAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("race detector: sync.Pool drops values")
	}
	tokenizers, cases := goldens(t, "testdata")
	for name, tokenizer := range tokenizers {
		ids, ranges := make([]int32, 0, 1<<12), make([]text.Range, 0, 1<<12)
		s := string(cases[name][0].Text)
		n := testing.AllocsPerRun(10, func() {
			ids = tokenizer.Encode(ids[:0], s)
			ids, ranges = tokenizer.EncodeRanges(ids[:0], ranges[:0], s)
		})
		if n > 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

// A long word takes linear time.
func TestLongText(t *testing.T) {
	for _, mt := range []ModelType{Unigram, BPE} {
		m := testModel()
		m.Trainer.ModelType = mt
		tokenizer := newTestTokenizer(t, m)
		s := strings.Repeat("ab", 1<<16) + strings.Repeat("ba ab", 1<<14)
		if got := tokenizer.Decode(tokenizer.Encode(nil, s)); got != s {
			t.Errorf("%v: %d bytes decode to %d", mt, len(s), len(got))
		}
	}
}
