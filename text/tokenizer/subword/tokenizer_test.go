package subword

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/tokenizer/moses"
)

func newTokenizer(t testing.TB, threshold int64) *Tokenizer {
	t.Helper()
	return New(readCodes(t, "codes.txt"), readVocabulary(t, threshold))
}

// checkEncoding reports a violation of the rules of text.Tokenizer for s.
func checkEncoding(t *testing.T, tok *Tokenizer, s string) {
	t.Helper()
	ids, ranges := tok.EncodeRanges(nil, nil, s)
	if plain := tok.Encode(nil, s); !slices.Equal(plain, ids) {
		t.Fatalf("Encode(%.100q) = %v, want %v as EncodeRanges", s, plain, ids)
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
	if len(ids) == 0 {
		if len(words) > 0 {
			t.Fatalf("Encode(%.100q) = %v, want ids", s, ids)
		}
		return
	}
	at := 0
	known := true
	for i, r := range ranges {
		piece := s[r.Start:r.End]
		if r.Start != at || r.End < r.Start || utf8.ValidString(s) && !utf8.ValidString(piece) {
			t.Fatalf("EncodeRanges(%.100q)[%d] = %v after %d, want adjacent ranges of whole characters", s, i, r, at)
		}
		at = r.End
		if ids[i] < unk || int(ids[i]) >= tok.Size() {
			t.Fatalf("Encode(%.100q)[%d] = %d, want from %d to %d", s, i, ids[i], unk, tok.Size()-1)
		}
		if known = known && ids[i] > unk; ids[i] > unk && strings.Trim(piece, " ") != strings.TrimRight(tok.Bytes(ids[i]), " ") {
			t.Fatalf("EncodeRanges(%.100q)[%d] has %q, want %q", s, i, piece, tok.Bytes(ids[i]))
		}
	}
	if at != len(s) {
		t.Fatalf("EncodeRanges(%.100q) ends at %d, want %d", s, at, len(s))
	}
	decoded, ranges := tok.DecodeRanges(nil, ids)
	if got := tok.Decode(ids); got != decoded {
		t.Fatalf("Decode = %q, want %q as DecodeRanges", got, decoded)
	}
	if want := strings.Join(words, " "); known && decoded != want {
		t.Fatalf("Decode(Encode(%.100q)) = %.100q, want %.100q", s, decoded, want)
	}
	checkAdjacent(t, decoded, ids, ranges)
}

var hostile = []string{
	"", " ", "   ", "a", " a", "a ", "\x00", "\xff", "\xed\xa0\x80 \xff\xfe", "\u0301", "@@", "a@@", "a@@ b", "</w>", "</s> <s> <pad> <unk>",
	strings.Repeat("a", 5000), strings.Repeat("sch", 2000), strings.Repeat("\u0301", 1000), strings.Repeat("中文 ", 500), "a\tb\nc\r\nd",
}

func TestTokenizer(t *testing.T) {
	for _, tok := range []*Tokenizer{newTokenizer(t, 0), newTokenizer(t, 50)} {
		for _, s := range append(readLines(t, "corpus.txt"), hostile...) {
			checkEncoding(t, tok, s)
		}
	}
}

// Ids are those of the vocabulary after the special ones, in its order.
func TestIDs(t *testing.T) {
	v, err := NewVocabulary([]Entry{{"<unk>", 0}, {"th@@", 7}, {"</s>", 0}, {"the", 5}, {"e", 2}, {"t@@", 2}, {"h@@", 2}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCodes([][2]string{{"t", "h"}, {"th", "e</w>"}})
	if err != nil {
		t.Fatal(err)
	}
	tok := New(c, v)
	for _, x := range []struct {
		text string
		ids  []int32
	}{{"the", []int32{5}}, {"th e", []int32{7, unk, 6}}, {"thx", []int32{4, unk}}, {"</s> <unk>", nil}} {
		got := tok.Encode(nil, x.text)
		if x.ids != nil && !slices.Equal(got, x.ids) {
			t.Errorf("Encode(%q) = %v, want %v", x.text, got, x.ids)
		}
		if slices.Contains(got, text.EOS) {
			t.Errorf("Encode(%q) = %v, want no special id", x.text, got)
		}
	}
	if got, want := tok.Size(), 9; got != want {
		t.Errorf("Size = %d, want %d", got, want)
	}
	ids := []int32{text.BOS, 4, 6, 5, unk, 4, text.EOS, -1, 99}
	if got, want := tok.Decode(ids), "the the <unk> th"; got != want {
		t.Errorf("Decode(%v) = %q, want %q", ids, got, want)
	}
}

// allEntries returns the characters and symbols of the corpus with and without joints.
func allEntries(t *testing.T) (entries []Entry) {
	seen := map[string]bool{"": true}
	add := func(s string) {
		s = strings.TrimSuffix(s, endOfWord)
		for _, piece := range []string{s, s + joint} {
			if s != "" && !seen[piece] {
				seen[piece] = true
				entries = append(entries, Entry{Piece: piece})
			}
		}
	}
	for _, r := range strings.Join(readLines(t, "corpus.txt"), "") {
		if r != ' ' {
			add(string(r))
		}
	}
	for _, m := range readCodes(t, "codes.txt").lines {
		add(m[0])
		add(m[1])
		add(m[0] + m[1])
	}
	return entries
}

func TestMarshal(t *testing.T) {
	for _, tok := range []*Tokenizer{newTokenizer(t, 0), newTokenizer(t, 10)} {
		data, err := tok.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Unmarshal(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range readLines(t, "corpus.txt") {
			if got, want := again.Encode(nil, s), tok.Encode(nil, s); !slices.Equal(got, want) {
				t.Errorf("decoded tokenizer: Encode(%q) = %v, want %v", s, got, want)
			}
		}
		for n := range data {
			if n < len(Magic)+100 || n%97 == 0 {
				if _, err := Unmarshal(data[:n]); err == nil {
					t.Errorf("Unmarshal of %d of %d bytes: no error", n, len(data))
				}
			}
		}
		if _, err := Unmarshal(append(slices.Clone(data), 0)); err == nil || !strings.Contains(err.Error(), "expected the end") {
			t.Errorf("Unmarshal of a further byte: error %v", err)
		}
	}
	for want, data := range map[string]string{
		`begins with "tfm-bpe", expected`: "tfm-bpe",
		"version 9, expected 1":           Magic + "\x09\x02\x00\x00\x00",
		"codes of version 7 and 0":        Magic + "\x01\x07\x00\x00\x00",
		"found 127 strings":               Magic + "\x01\x02\x00\x7f",
		"not in its shortest form":        Magic + "\x01\x02\x80\x00\x00\x00",
		`found symbol "", expected`:       Magic + "\x01\x02\x00\x01\x00\x01a\x00",
		`found piece "", expected`:        Magic + "\x01\x02\x00\x00\x01\x00\x01",
		"found count -1, expected":        Magic + "\x01\x02\x00\x00\x01\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"version 2 and 1 glossaries":      Magic + "\x01\x02\x01\x01(\x00\x00",
	} {
		if _, err := Unmarshal([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Unmarshal(%q): error %v, want %q", data, err, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ codes, want string }{
		{"#version: 0.3\na b\n", `f:1: found "#version: 0.3", expected #version: 0.2`},
		{"#version: 0.2 byte\na b\n", `f:1: found "#version: 0.2 byte", expected`},
		{"e n</w> 12\n", `f:1: found "e n</w> 12", expected`},
		{"#version: 0.2\na b\nabc\n", `f:3: found symbol "", expected characters`},
		{"#version: 0.2\na b c\n", `f:2: found symbol "b c", expected characters without spaces`},
		{"#version: 0.2\n\nc d\n", `f:2: found symbol ""`},
		{"#version: 0.2\na  b\n", "f:2: found"},
		{"#version: 0.2\na \xff\n", `f:2: found symbol "\xff", expected valid UTF-8`},
		{"#version: 0.2\na " + strings.Repeat("x", maxSymbol+1) + "\n", "f:2: found a symbol of 4097 bytes"},
		{strings.Repeat("x", 2*maxLineBytes), "f:1: found a line of more than 65536 bytes"},
	} {
		if _, err := ReadCodes(strings.NewReader(c.codes), "f"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("ReadCodes(%.40q): error %v, want %q", c.codes, err, c.want)
		}
	}
	for _, c := range []struct {
		vocabulary string
		threshold  int64
		want       string
	}{
		{"a 1\nb\n", 2, `f:2: found "b", expected a piece`},
		{"a 1\nb x\n", 0, `f:2: found "b x", expected a piece`},
		{"a 1\nb -1\n", 0, "f:2: found count -1"},
		{"a 1\na 2\n", 0, `f:2: found piece "a" again`},
		{"a 1 2\n", 0, `f:1: found "a 1 2", expected a piece`},
		{"\n", 0, `f:1: found piece ""`},
		{"\xff 1\n", 0, `f:1: found piece "\xff", expected valid UTF-8`},
	} {
		if _, err := ReadVocabulary(strings.NewReader(c.vocabulary), "f", c.threshold); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("ReadVocabulary(%q): error %v, want %q", c.vocabulary, err, c.want)
		}
	}
}

// Files of other line endings are read.
func TestReadVariants(t *testing.T) {
	for _, s := range []string{"#version: 0.2\r\na b\r\nab c</w>\r\n", "#version: 0.2\n a b \nab c</w>"} {
		c, err := ReadCodes(strings.NewReader(s), "f")
		if err != nil || !slices.Equal(c.lines, [][2]string{{"a", "b"}, {"ab", "c</w>"}}) {
			t.Errorf("ReadCodes(%q) = %v, %v", s, c, err)
		}
	}
	if c, err := ReadCodes(strings.NewReader("#version: 0.2\n"), "f"); err != nil || len(c.lines) != 0 {
		t.Errorf("ReadCodes of a version = %v, %v, want no merges", c, err)
	}
	v, err := ReadVocabulary(strings.NewReader("a@@\r\nb 3 \n"), "f", 0)
	if err != nil || len(v.entries) != 2 {
		t.Errorf("ReadVocabulary = %v, %v, want 2 pieces", v, err)
	}
}

func FuzzReadCodes(f *testing.F) {
	f.Add("#version: 0.2\na b\nab c</w>\n", "abc ab")
	f.Add("#version: 0.2\na b\nab </w>\n", "ab")
	f.Add("#version: 0.2\na a\naa a\naa aa</w>\na aa\n", "aaaa aaaaaaa")
	f.Fuzz(func(t *testing.T, file, s string) {
		c, err := ReadCodes(strings.NewReader(file), "f")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadCodes(&b, "g")
		if err != nil || !slices.Equal(again.lines, c.lines) {
			t.Fatalf("%q is written as %q, error %v", file, b.String(), err)
		}
		whole := New(c, &Vocabulary{})
		whole.encoders.New = func() any { return newEncoder(c, nil) }
		segmented := whole.Segment(s)
		var entries []Entry
		seen := map[string]bool{}
		for piece := range strings.FieldsSeq(segmented) {
			if !seen[piece] {
				seen[piece] = true
				entries = append(entries, Entry{Piece: piece})
			}
		}
		v, err := NewVocabulary(entries)
		if err != nil {
			return // invalid UTF-8
		}
		tok := New(c, v)
		checkEncoding(t, tok, s)
		if tok.Segment(s) != segmented && !strings.ContainsAny(s, "\t\n\v\f\r\u0085\u00a0\u2028\u3000") {
			t.Fatalf("Segment(%q) with the vocabulary of its segments is %q, want %q", s, tok.Segment(s), segmented)
		}
		checkEncoding(t, New(c, &Vocabulary{}), s)
	})
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(Magic + "\x01\x02\x01\x03sch\x01\x01a\x05a</w>\x02\x03a@@\x07\x02aa\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Unmarshal(data)
		if err != nil {
			return
		}
		if again, err := tok.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x is encoded as %x, %v", data, again, err)
		}
		checkEncoding(t, tok, "the sch \xff aaa")
	})
}

// Unmarshal allocates in proportion to the data.
func TestUnmarshalMemory(t *testing.T) {
	data := []byte(Magic + "\x01\x02\x00")
	const n = 40000
	data = binary.AppendUvarint(data, n)
	for i := range n {
		data = append(data, 2, byte('a'+i%26), byte('a'+i/26%26), 2, byte('a'+i/676%26), byte('a'+i/17576))
	}
	data = append(data, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 200*uint64(len(data)) {
		t.Errorf("allocated %d bytes for %d, want at most 200 times as many", used, len(data))
	}
}

func newRaw(t testing.TB, language string) *Tokenizer {
	t.Helper()
	return NewRaw(readCodes(t, "codes.txt"), readVocabulary(t, 0), moses.NewChain(language))
}

// A tokenizer for raw text has the pieces of the words of its chain, ranges of the raw text, and
// decodes to raw text. Its file keeps the language.
func TestRaw(t *testing.T) {
	for _, language := range []string{"en", "de", "", "fr"} {
		tok := newRaw(t, language)
		data, err := tok.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if tok, err = Unmarshal(data); err != nil || tok.Chain() == nil || tok.Chain().Language() != language {
			t.Fatalf("%s: decoded %v, error %v", language, tok, err)
		}
		for n := range len(Magic) + 20 {
			if _, err := Unmarshal(data[:n]); err == nil {
				t.Errorf("Unmarshal of %d of %d bytes: no error", n, len(data))
			}
		}
		words := New(tok.codes, tok.vocabulary)
		for _, line := range append(readLines(t, "corpus.txt"), slices.Concat(hostile, []string{`He said: "It's  re-used & <b>".`})...) {
			ids, ranges := tok.EncodeRanges(nil, nil, line)
			if want := tok.Encode(nil, line); !slices.Equal(ids, want) {
				t.Fatalf("Encode(%q) = %v, want %v", line, want, ids)
			}
			if got, want := strings.ReplaceAll(tok.Segment(line), joint+" ", ""), tok.chain.Words(line); got != want && !strings.Contains(line, joint) {
				t.Fatalf("Segment(%q) without joints = %q, want %q", line, got, want)
			}
			checkAdjacent(t, line, ids, ranges)
			got, ranges := tok.DecodeRanges(nil, ids)
			if want := tok.chain.Text(words.Decode(ids)); got != want || tok.Decode(ids) != want {
				t.Fatalf("Decode(%v) = %q and %q, want %q", ids, tok.Decode(ids), got, want)
			}
			checkAdjacent(t, got, ids, ranges)
			for n := range min(len(ids), 50) {
				if begin := tok.DecodeBegin(ids[:n]); !strings.HasPrefix(got, begin) {
					t.Fatalf("DecodeBegin(%v) = %q, want the begin of %q", ids[:n], begin, got)
				}
			}
		}
	}
	for want, data := range map[string]string{
		"version 3, expected 1 to 2":           Magic + "\x03",
		`found language "en" and settings 8`:   Magic + "\x02\x02en\x08\x02\x00\x00\x00",
		`found language "\xff" and settings 0`: Magic + "\x02\x01\xff\x00\x02\x00\x00\x00",
	} {
		if _, err := Unmarshal([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Unmarshal(%q): error %v, want %q", data, err, want)
		}
	}
}

// checkAdjacent reports ranges that do not cover s, one for each id.
func checkAdjacent(t *testing.T, s string, ids []int32, ranges []text.Range) {
	t.Helper()
	at := 0
	for _, r := range ranges {
		if r.Start != at || r.End < at || r.End > len(s) {
			t.Fatalf("ranges %v of %q, want adjacent ones", ranges, s)
		}
		at = r.End
	}
	if len(ranges) != len(ids) || at != len(s) && len(ids) > 0 {
		t.Fatalf("%d ranges to %d of %q, want %d to %d", len(ranges), at, s, len(ids), len(s))
	}
}
