package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/sentencepiece/internal/charsmap"
)

const (
	space   = "▁" // U+2581, a space in normalized text
	maxSize = 1 << 30
)

// Normalizations are the names of the normalizations that Settings can have: see charsmap.Named.
var Normalizations = charsmap.Names

// Settings are those of a model to train. The others have spm_train's defaults.
type Settings struct {
	Size          int     // pieces of the model
	Normalization string  // one of Normalizations
	Coverage      float32 // share of the text whose characters all have a piece, from 0.98
	ByteFallback  bool    // 256 pieces are bytes, for characters without a piece
	Threads       int     // goroutines of Train; 0 is GOMAXPROCS. They do not affect the result
}

// Trainer learns a unigram Model from texts. Its results are those of spm_train, except where that
// program depends on the number of threads or rounds to float32, and where a text exceeds its
// limits: a Trainer takes lines of any length. It is not safe for concurrent use.
//
// Texts are counted as they are added. Memory is bounded by MaxTableChars for corpora of any size:
// beyond it the counts are those of a sample, which is unbiased and depends only on the texts and
// their order. Training on a full table takes up to 1.5 GB. Without sampling, the order of the
// texts does not affect the result.
type Trainer struct {
	// Progress is called as Train proceeds, if it is not nil, with the number of pieces, which
	// falls to a target.
	Progress func(pieces, target int)

	threads    int
	spec       sentencepiece.TrainerSpec
	normalizer sentencepiece.NormalizerSpec
	meta       []sentencepiece.Piece // special and byte pieces, which have the first ids
	texts      fragmenter
}

// New returns a Trainer of a model with these settings. It fails if the special pieces alone exceed
// the size, and panics on an unknown normalization.
func New(s Settings) (*Trainer, error) {
	t := &Trainer{threads: s.Threads, spec: sentencepiece.NewTrainerSpec(), normalizer: sentencepiece.NewNormalizerSpec()}
	t.spec.VocabSize, t.spec.CharacterCoverage, t.spec.ByteFallback = int32(min(s.Size, maxSize)), s.Coverage, s.ByteFallback
	t.normalizer.Name, t.normalizer.PrecompiledCharsmap = s.Normalization, charsmap.Named(s.Normalization)
	t.meta = []sentencepiece.Piece{
		{Text: t.spec.UnknownPiece, Type: sentencepiece.Unknown},
		{Text: t.spec.BOSPiece, Type: sentencepiece.Control},
		{Text: t.spec.EOSPiece, Type: sentencepiece.Control},
	}
	if s.ByteFallback {
		for c := range 256 {
			t.meta = append(t.meta, sentencepiece.Piece{Text: fmt.Sprintf("<0x%02X>", c), Type: sentencepiece.Byte})
		}
	}
	if len(t.meta) > s.Size {
		return nil, t.tooSmall(0)
	}
	for _, p := range t.meta {
		t.texts.special.add(p.Text)
	}
	t.texts.table.Measure = utf8.RuneCountInString
	t.texts.scripts = scripts()
	var err error
	t.texts.normalizer, err = sentencepiece.NewNormalizer(&t.normalizer)
	return t, err
}

// tooSmall returns the error of a vocabulary that is too small for required characters.
func (t *Trainer) tooSmall(chars int) error {
	return fmt.Errorf("vocabulary of %d pieces, expected at least %d: %d characters and %d special ones",
		t.spec.VocabSize, chars+len(t.meta), chars, len(t.meta))
}

// Add counts a text, which is usually a line. It does not retain the string.
func (t *Trainer) Add(s string) { t.texts.add(s) }

// Threshold returns the number of occurrences below which fragments of text were sampled, or 1 if
// all counts are exact.
func (t *Trainer) Threshold() int64 { return t.texts.table.Threshold() }

// Train returns a model of the vocabulary size of the settings. It fails if the texts have fewer
// pieces, and if their characters alone are more. More texts can be added afterwards.
func (t *Trainer) Train() (*sentencepiece.Model, error) {
	c, err := t.corpus()
	if err != nil {
		return nil, err
	}
	if t.Progress == nil {
		t.Progress = func(int, int) {}
	}
	want := int(t.spec.VocabSize) - len(t.meta)
	learned := t.trainUnigram(c, want)
	if len(learned) < want {
		return nil, fmt.Errorf("vocabulary of %d pieces, expected at most %d for these texts", t.spec.VocabSize, len(learned)+len(t.meta))
	}
	m := sentencepiece.NewModel()
	m.Trainer, m.Normalizer = t.spec, t.normalizer
	m.Pieces = slices.Concat(t.meta, learned[:want])
	return m, nil
}

// corpus is the text to train on: fragments of required characters, each as a symbol.
type corpus struct {
	chars   []rune      // of the symbols, ascending
	classes []charClass // of the symbols
	count   []int64     // of the symbols
	byCount []int32     // the symbols, most frequent first

	symbols []int32    // of the fragments, one after another
	bounds  []int32    // fragment i is symbols[bounds[i]:bounds[i+1]]
	counts  []int64    // of the fragments
	next    []nextChar // of the fragments
}

// text returns the text of symbols.
func (c *corpus) text(symbols []int32) string {
	var s strings.Builder
	for _, symbol := range symbols {
		s.WriteRune(c.chars[symbol])
	}
	return s.String()
}

// corpus returns the counted texts.
func (t *Trainer) corpus() (*corpus, error) {
	c := &corpus{}
	required, err := t.requiredChars(c)
	if err != nil {
		return nil, err
	}
	if n := len(c.chars) + len(t.meta); n > int(t.spec.VocabSize) {
		return nil, t.tooSmall(len(c.chars))
	}
	c.bounds = []int32{0}
	table := &t.texts.table
	for i, text := range table.Strings {
		end := func(next nextChar) {
			if n := int32(len(c.symbols)); n > c.bounds[len(c.bounds)-1] {
				c.bounds = append(c.bounds, n)
				c.counts = append(c.counts, table.Counts[i])
				c.next = append(c.next, next)
			}
		}
		for _, r := range text {
			if symbol := required[r] - 1; symbol >= 0 {
				c.symbols = append(c.symbols, symbol)
			} else {
				end(unknownChar)
			}
		}
		end(table.next[i])
	}
	return c, nil
}

// requiredChars sets the symbols of c: the most frequent characters that cover the texts. It
// returns the symbol plus 1 of each character.
func (t *Trainer) requiredChars(c *corpus) (symbols []int32, err error) {
	counts := make([]int64, unicode.MaxRune+1)
	var all int64
	for i, text := range t.texts.table.Strings {
		for _, r := range text {
			counts[r] += t.texts.table.Counts[i]
			all += t.texts.table.Counts[i]
		}
	}
	if all == 0 {
		return nil, errors.New("found no text to train on")
	}
	var chars []rune
	for r, n := range counts {
		if n > 0 {
			chars = append(chars, rune(r))
		}
	}
	slices.SortStableFunc(chars, func(a, b rune) int { return cmp.Compare(counts[b], counts[a]) })
	var covered int64
	for _, r := range chars {
		if float32(float64(covered)/float64(all)) >= t.spec.CharacterCoverage {
			break
		}
		covered += counts[r]
		c.chars = append(c.chars, r)
	}
	slices.Sort(c.chars)
	symbols = make([]int32, len(counts))
	for i, r := range c.chars {
		symbols[r] = int32(i) + 1
		c.classes = append(c.classes, t.texts.scripts.class(r))
		c.count = append(c.count, counts[r])
		c.byCount = append(c.byCount, int32(i))
	}
	slices.SortStableFunc(c.byCount, func(a, b int32) int { return cmp.Compare(c.count[b], c.count[a]) })
	return symbols, nil
}
