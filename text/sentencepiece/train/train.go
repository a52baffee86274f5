package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text/sentencepiece"
)

const (
	space = "▁" // U+2581, a space in normalized text
	// maxPiece is the limit of a piece in bytes.
	maxPiece = 2048
)

// Trainer learns a Model from texts. Its results are those of spm_train, except where that program
// depends on the number of threads or rounds to float32, and where a text exceeds its limits: a
// Trainer takes lines of any length. It is not safe for concurrent use.
//
// Texts are counted as they are added. Memory is bounded by MaxTableChars for corpora of any size:
// beyond it the counts are those of a sample, which is unbiased and depends only on the texts and
// their order. Training on a full table takes up to 1.5 GB. Without sampling, the order of the
// texts does not affect the result.
type Trainer struct {
	// Threads is the number of goroutines of Train, which does not affect the result. 0 means
	// GOMAXPROCS.
	Threads int

	// Progress is called as Train proceeds, if it is not nil.
	Progress func(Progress)

	spec       sentencepiece.TrainerSpec
	normalizer sentencepiece.NormalizerSpec
	meta       map[int]sentencepiece.Piece // special, control, user-defined and byte pieces, by id
	texts      fragmenter
}

// Progress is the state of Train: the number of pieces, and the number at which it ends. In BPE the
// pieces become more, in a unigram model fewer.
type Progress struct{ Pieces, Target int }

// New returns a Trainer with the settings of a model. It uses the settings of spec that
// affect the pieces. The error of an invalid one is a *SettingError. The training of models of
// words and characters, white space as a suffix, seed files and delimiters of a pretokenizer are
// not supported.
func New(spec sentencepiece.TrainerSpec, normalizer sentencepiece.NormalizerSpec) (*Trainer, error) {
	t := &Trainer{spec: spec, normalizer: normalizer}
	t.texts.table.Measure = utf8.RuneCountInString
	if err := t.check(); err != nil {
		return nil, err
	}
	if err := t.addMeta(); err != nil {
		return nil, err
	}
	t.texts.rules = &pieceRules{&t.spec, scripts()}
	var err error
	if t.texts.normalizer, err = sentencepiece.NewNormalizer(&normalizer); err != nil {
		return nil, fmt.Errorf("normalizer_spec: %w", err)
	}
	if !spec.SplitByWhitespace || !slices.Contains(normalizationNames, normalizer.Name) && len(normalizer.PrecompiledCharsmap) > 0 {
		t.texts.wholeLines = true // other maps can have rules with spaces
	}
	for _, p := range t.meta {
		t.texts.special.add(p.Text)
		if strings.Contains(p.Text[1:], space) {
			t.texts.wholeLines = true
		}
	}
	return t, nil
}

// SettingError reports an invalid setting of training.
type SettingError struct {
	Name string // of the field in a .model file, and of spm_train's flag
	Err  error
}

func (e *SettingError) Error() string { return e.Name + ": " + e.Err.Error() }

func (e *SettingError) Unwrap() error { return e.Err }

func settingErrorf(name, format string, a ...any) error {
	return &SettingError{name, fmt.Errorf(format, a...)}
}

// check checks the settings.
func (t *Trainer) check() error {
	s := &t.spec
	between := func(name string, value, lo, hi float64) error {
		if !(value >= lo && value <= hi) {
			return settingErrorf(name, "found %v, expected %v to %v", value, lo, hi)
		}
		return nil
	}
	switch {
	case s.ModelType != sentencepiece.Unigram && s.ModelType != sentencepiece.BPE:
		return settingErrorf("model_type", "found %s, expected unigram or bpe", s.ModelType)
	case s.WhitespaceAsSuffix:
		return settingErrorf("treat_whitespace_as_suffix", "not supported in training")
	case s.PretokenizerDelimiter != "":
		return settingErrorf("pretokenization_delimiter", "not supported in training")
	case s.SeedFile != "":
		return settingErrorf("seed_sentencepieces_file", "not supported in training")
	case !t.normalizer.EscapeWhitespace:
		return settingErrorf("escape_whitespaces", "found false, expected true")
	case !t.normalizer.AddDummyPrefix || !t.normalizer.RemoveExtraWhitespace:
		t.texts.wholeLines = true
	}
	return cmp.Or(
		between("vocab_size", float64(s.VocabSize), 1, 1<<30),
		between("character_coverage", float64(s.CharacterCoverage), 0.98, 1),
		between("seed_sentencepiece_size", float64(s.SeedSize), 1, 1<<30),
		between("num_sub_iterations", float64(s.NumSubIterations), 1, 10),
		between("shrinking_factor", float64(s.ShrinkingFactor), 0.5, 0.95),
		between("max_sentencepiece_length", float64(s.MaxPieceLength), 1, 512),
	)
}

// addMeta assigns the ids of the pieces that are not learned: the chosen ones of the special
// pieces, then the first free ones.
func (t *Trainer) addMeta() error {
	s := &t.spec
	t.meta = map[int]sentencepiece.Piece{}
	ids := map[string]int{}
	for _, p := range []struct {
		name string
		id   int32
		text string
		typ  sentencepiece.PieceType
	}{
		{"unk_id", s.UnknownID, s.UnknownPiece, sentencepiece.Unknown},
		{"bos_id", s.BOSID, s.BOSPiece, sentencepiece.Control},
		{"eos_id", s.EOSID, s.EOSPiece, sentencepiece.Control},
		{"pad_id", s.PadID, s.PadPiece, sentencepiece.Control},
	} {
		id := int(p.id)
		if id < 0 && p.typ != sentencepiece.Unknown {
			continue
		}
		if other, ok := t.meta[id]; ok || id < 0 || p.id >= s.VocabSize {
			taken := ""
			if ok {
				taken = ", which is that of " + other.Text
			}
			return settingErrorf(p.name, "found %d, expected a free id less than %d%s", id, s.VocabSize, taken)
		}
		if err := checkMeta(p.text, ids); err != nil {
			return err
		}
		t.meta[id], ids[p.text] = sentencepiece.Piece{Text: p.text, Type: p.typ}, id
	}
	special := []string{s.BOSPiece, s.EOSPiece, s.PadPiece}
	next := 0
	add := func(text string, typ sentencepiece.PieceType) error {
		if id, ok := ids[text]; ok && t.meta[id].Type == sentencepiece.Control && slices.Contains(special, text) {
			t.meta[id] = sentencepiece.Piece{Text: text, Type: typ}
			return nil
		}
		if err := checkMeta(text, ids); err != nil {
			return err
		}
		for t.meta[next].Text != "" {
			next++
		}
		t.meta[next], ids[text] = sentencepiece.Piece{Text: text, Type: typ}, next
		return nil
	}
	for _, text := range s.ControlSymbols {
		if err := add(text, sentencepiece.Control); err != nil {
			return &SettingError{"control_symbols", err}
		}
	}
	for _, text := range s.UserDefinedSymbols {
		if err := add(text, sentencepiece.UserDefined); err != nil {
			return &SettingError{"user_defined_symbols", err}
		}
	}
	if s.ByteFallback {
		for c := range 256 {
			if err := add(fmt.Sprintf("<0x%02X>", c), sentencepiece.Byte); err != nil {
				return fmt.Errorf("byte_fallback: %w", err)
			}
		}
	}
	if len(t.meta) > int(s.VocabSize) {
		return t.tooSmall(0)
	}
	return nil
}

// checkMeta checks the text of a piece that is not learned.
func checkMeta(text string, ids map[string]int) error {
	switch {
	case text == "":
		return errors.New("found an empty piece")
	case len(text) > maxPiece:
		return fmt.Errorf("found a piece of %d bytes, expected at most %d", len(text), maxPiece)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("found %q, expected UTF-8 without NUL", text)
	}
	if _, ok := ids[text]; ok {
		return fmt.Errorf("found %q twice, expected different pieces", text)
	}
	return nil
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
		t.Progress = func(Progress) {}
	}
	want := int(t.spec.VocabSize) - len(t.meta)
	var learned []sentencepiece.Piece
	if t.spec.ModelType == sentencepiece.BPE {
		learned = t.trainBPE(c, want)
	} else {
		learned = t.trainUnigram(c, want)
	}
	if len(learned) < want {
		return nil, fmt.Errorf("vocabulary of %d pieces, expected at most %d for these texts", t.spec.VocabSize, len(learned)+len(t.meta))
	}
	m := sentencepiece.NewModel()
	m.Trainer, m.Normalizer = t.spec, t.normalizer
	for id := range int(t.spec.VocabSize) {
		p, ok := t.meta[id]
		if !ok {
			p, learned = learned[0], learned[1:]
		}
		m.Pieces = append(m.Pieces, p)
	}
	return m, nil
}

// corpus is the text to train on: fragments of required characters, each as a symbol.
type corpus struct {
	rules   *pieceRules
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
	c := &corpus{rules: t.texts.rules}
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

// requiredChars sets the symbols of c: the characters of required_chars, and the most frequent
// ones that cover the texts. It returns the symbol plus 1 of each character.
func (t *Trainer) requiredChars(c *corpus) (symbols []int32, err error) {
	required := map[rune]bool{}
	for _, r := range t.spec.RequiredChars {
		if r == utf8.RuneError || t.texts.rules.class(r) == reserved {
			return nil, settingErrorf("required_chars", "found %q, expected characters that pieces can have", r)
		}
		required[r] = true
	}
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
		if n > 0 || required[rune(r)] {
			chars = append(chars, rune(r))
		}
	}
	slices.SortStableFunc(chars, func(a, b rune) int {
		switch {
		case required[a] == required[b]:
			return cmp.Compare(counts[b], counts[a])
		case required[a]:
			return -1
		}
		return 1
	})
	special := map[string]bool{}
	for _, p := range t.meta {
		special[p.Text] = true
	}
	var covered int64
	for _, r := range chars {
		if float32(float64(covered)/float64(all)) >= t.spec.CharacterCoverage {
			break
		}
		covered += counts[r]
		if !special[string(r)] {
			c.chars = append(c.chars, r)
		}
	}
	slices.Sort(c.chars)
	symbols = make([]int32, len(counts))
	for i, r := range c.chars {
		symbols[r] = int32(i) + 1
		c.classes = append(c.classes, c.rules.class(r))
		c.count = append(c.count, counts[r])
		c.byCount = append(c.byCount, int32(i))
	}
	slices.SortStableFunc(c.byCount, func(a, b int32) int { return cmp.Compare(c.count[b], c.count[a]) })
	return symbols, nil
}
