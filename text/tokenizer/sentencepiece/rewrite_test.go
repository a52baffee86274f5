package sentencepiece

import (
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/tokenizer/internal/rewrite"
)

// rewritingTokenizer returns a tokenizer of characters with rules.
func rewritingTokenizer(t *testing.T, rules ...string) *Tokenizer {
	t.Helper()
	m := NewModel()
	m.Trainer.ModelType = Char
	m.Pieces = []Piece{{Text: "<unk>", Type: Unknown}}
	for _, c := range "▁ab.\"1" {
		m.Pieces = append(m.Pieces, Piece{Text: string(c), Type: Normal})
	}
	m.Normalizer.Rewrites = rules
	made, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := made.MarshalBinary()
	read, err := Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// Rules replace text in turn, and the ranges are those of the text before them.
func TestRewrites(t *testing.T) {
	tok := rewritingTokenizer(t, "。 *\t. ", `([ab])(\.+)"`+"\t$1\"$2", `\.\.`+"\t", "１\t\"", `\r`+"\t$$", "(a)(a)(b)\t$3$1$2")
	for _, c := range []struct{ text, want string }{
		{"a。  b", "▁a.▁b"}, {`a."b`, `▁a".b`}, {"a..b", "▁ab"}, {"1１", `▁1"`}, {"", ""}, {"。", "▁."}, {"a\r", "▁a<unk>"}, {"1aab.", "▁1baa."},
	} {
		ids, ranges := tok.EncodeRanges(nil, nil, c.text)
		if plain := tok.Encode(nil, c.text); !slices.Equal(plain, ids) {
			t.Errorf("%q: ids %v, with ranges %v", c.text, plain, ids)
		}
		var got, source strings.Builder
		for i, id := range ids {
			got.WriteString(tok.Piece(id))
			source.WriteString(c.text[ranges[i].Start:ranges[i].End])
		}
		if got.String() != c.want || source.String() != c.text {
			t.Errorf("%q: %q of %q, want %q", c.text, got.String(), source.String(), c.want)
		}
	}
	_, ranges := tok.EncodeRanges(nil, nil, "a。  b")
	if want := []text.Range{{}, {Start: 0, End: 1}, {Start: 1, End: 1}, {Start: 1, End: 6}, {Start: 6, End: 7}}; !slices.Equal(ranges, want) {
		t.Errorf("ranges %v, want %v", ranges, want)
	}
}

// A rule that makes a text too long is left out.
func TestRewriteLimits(t *testing.T) {
	double := slices.Repeat([]string{"a\taa"}, 60)
	if n := len(rewritingTokenizer(t, double...).Encode(nil, "a")); n > 2*rewrite.MinLimit {
		t.Errorf("%d ids", n)
	}
	for _, rule := range []string{"a", "(\tb", "a*\tb", "a\t$1", "a\t$", "\tb", "a\t\xff", "a{2}\tb", "(x|(a+){1000})b\tb"} {
		m := NewModel()
		m.Pieces = []Piece{{Text: "<unk>", Type: Unknown}}
		m.Normalizer.Rewrites = []string{rule}
		if _, err := New(m); err == nil || !strings.Contains(err.Error(), "rewrites") {
			t.Errorf("rule %q: error %v", rule, err)
		}
	}
}

// With NameUnknown, unknown text that is an unused piece has its id, but not a part of such text.
func TestNameUnknown(t *testing.T) {
	m := NewModel()
	m.Pieces = []Piece{{Text: "<unk>", Type: Unknown}, {Text: "▁", Type: Normal, Score: -1}, {Text: "a", Type: Normal, Score: -1}, {Text: "ç", Type: Unused}}
	m.Trainer.NameUnknown = true
	tok, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]string{"aça": "▁ a ç a", "açéa ç": "▁ a <unk> a ▁ ç", "éa": "▁ <unk> a"} {
		ids, ranges := tok.EncodeRanges(nil, nil, s)
		var got []string
		for _, id := range ids {
			got = append(got, tok.Piece(id))
		}
		if plain := tok.Encode(nil, s); strings.Join(got, " ") != want || !slices.Equal(plain, ids) || ranges[len(ranges)-1].End != len(s) {
			t.Errorf("%q: %q, ids %v and %v, want %q", s, got, ids, plain, want)
		}
	}
}
