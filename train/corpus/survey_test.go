package corpus

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/internal/hash"
	"tfm/internal/texttest"
	"tfm/text"
	"tfm/text/script"
	"tfm/train"
)

// texts returns the pairs of two slices.
func texts(source, target []string) *Text {
	return Pairs("pairs", func(yield func(text.Pair, error) bool) {
		for i := range source {
			if !yield(text.Pair{Source: source[i], Target: target[i], Line: i + 1}, nil) {
				return
			}
		}
	})
}

func inspect(t *testing.T, c Options) *Survey {
	t.Helper()
	s, err := Inspect(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// near reports whether a share is within 0.02 of another one.
func near(a, b float64) bool { return math.Abs(a-b) < 0.02 }

// Facts are those of the text, exactly for small corpora.
func TestFacts(t *testing.T) {
	s := inspect(t, Options{Train: texts(
		[]string{"The  dog, it barks!", "привет мир", "same same", "", "The  dog, it barks!", "Ένα δύο"},
		[]string{"狗在叫。", "שלום עולם", "same same", "x", "狗在叫。", "いち　二"},
	)})
	if s.Pairs != 6 || s.Identical != 1 || s.DistinctPairs != 5 {
		t.Errorf("%d pairs, %d identical, %d distinct; want 6, 1, 5", s.Pairs, s.Identical, s.DistinctPairs)
	}
	if got, want := s.Repeated(), 1.0/6; math.Abs(got-want) > 1e-12 {
		t.Errorf("Repeated() = %v, want %v", got, want)
	}
	var source, target [script.Count]int64
	source[script.Latin], source[script.Cyrillic], source[script.Greek] = 2*13+8, 9, 6
	target[script.Latin], target[script.Han], target[script.Hebrew], target[script.Kana] = 9, 2*3+1, 8, 2
	for _, side := range []struct {
		name       string
		got        Side
		characters int64
		letters    [script.Count]int64
	}{
		{"source", s.Source, 2*19 + 10 + 9 + 7, source},
		{"target", s.Target, 2*4 + 9 + 9 + 1 + 4, target},
	} {
		if side.got.Characters != side.characters {
			t.Errorf("%s: %d characters, want %d", side.name, side.got.Characters, side.characters)
		}
		if side.got.Letters != side.letters {
			t.Errorf("%s: letters %v, want %v", side.name, side.got.Letters, side.letters)
		}
	}
	if s.Source.Unspaced() {
		t.Error("the source is unspaced")
	}
	if zh := inspect(t, Options{Train: texts([]string{"a"}, []string{"我喜欢 Go 语言。"})}); !zh.Target.Unspaced() || zh.Source.Unspaced() {
		t.Errorf("unspaced: source %v, target %v; want false, true", zh.Source.Unspaced(), zh.Target.Unspaced())
	}
}

// Lines that do not belong together are found by their lengths, with their place and shift.
func TestLinePairing(t *testing.T) {
	const n = 5000
	source, target := texttest.Pairs(n)
	rng := rand.New(rand.NewPCG(1, 1))
	shuffled := slices.Clone(target)
	rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	type pair struct{ s, t string }
	var sorted []pair
	for i := range source {
		sorted = append(sorted, pair{source[i], target[i]})
	}
	slices.SortStableFunc(sorted, func(a, b pair) int { return cmp.Compare(len(a.s), len(b.s)) })
	var bySource, byTarget []string
	for _, p := range sorted {
		bySource, byTarget = append(bySource, p.s), append(byTarget, p.t)
	}
	constant := slices.Repeat([]string{"ein und ein"}, n)
	for _, c := range []struct {
		name           string
		source, target []string
		unaligned      int // at least, and at most 200 more
		first, shift   int
	}{
		{"aligned", source, target, 0, 0, 0},
		{"sorted by length", bySource, byTarget, 0, 0, 0},
		{"constant targets", source, constant, 0, 0, 0},
		{"shuffled", source, shuffled, n, 1, 0},
		{"late by a line", source[1:], target[:n-1], n - 1, 1, 1},
		{"early by a line", source[:n-1], target[1:], n - 1, 1, -1},
		{"a line is missing in the middle", source[:n-1], slices.Concat(target[:2048], target[2049:]), n - 2049, 2049, -1},
		{"few", source[:99], shuffled[:99], 0, 0, 0},
		{"a hundred", source[:150], shuffled[:150], 150, 1, 0},
	} {
		a := inspect(t, Options{Train: texts(c.source, c.target)}).LinePairing
		if a.Unaligned < c.unaligned || a.Unaligned > c.unaligned+200 || a.FirstUnaligned != c.first || a.Shift != c.shift {
			t.Errorf("%s: %+v, want about %d from line %d, shift %d", c.name, a, c.unaligned, c.first, c.shift)
		}
	}
}

// The ratio of lengths is that of most pairs, and pairs far from it are counted.
func TestLengthRatio(t *testing.T) {
	const n = 2000
	source, target := texttest.Pairs(n)
	clean := inspect(t, Options{Train: texts(source, target)})
	if clean.FarOff > 0 || clean.LongPairs < n*9/10 {
		t.Errorf("%d of %d pairs far off, want 0 of most", clean.FarOff, clean.LongPairs)
	}
	long := 0
	for i := range n {
		if i%20 == 0 && len(source[i]) >= minRatioChars {
			target[i] = strings.Repeat(target[i], 6)
			long++
		}
	}
	s := inspect(t, Options{Train: texts(source, target)})
	if s.FarOff < long*9/10 || s.FarOff > n/20 {
		t.Errorf("%d pairs far off, want about %d", s.FarOff, long)
	}
	if math.Abs(s.LengthRatio/clean.LengthRatio-1) > 0.05 {
		t.Errorf("ratio %v, want about %v as of the other pairs", s.LengthRatio, clean.LengthRatio)
	}
	huge := inspect(t, Options{Train: texts([]string{"a"}, []string{strings.Repeat("b", 1<<22)})})
	if huge.LongPairs != 1 || huge.LengthRatio < 1<<20 {
		t.Errorf("a pair in memory longer than a line of a file: ratio %v of %d pairs", huge.LengthRatio, huge.LongPairs)
	}
	short := inspect(t, Options{Train: texts([]string{"a", "bb"}, []string{"ccc", "ddd"})})
	if short.LengthRatio != 2 || short.LongPairs != 0 {
		t.Errorf("short pairs: ratio %v of %d pairs, want 2 of 0", short.LengthRatio, short.LongPairs)
	}
}

// Validation pairs in the training pairs are counted.
func TestOverlap(t *testing.T) {
	source, target := texttest.Pairs(1000)
	valid := texts(
		[]string{source[3], source[3], source[5], "other", "another"},
		[]string{target[3], target[3], "other", target[7], "another"})
	s := inspect(t, Options{Train: texts(source, target), Valid: valid})
	if want := (Overlap{2, 3}); s.Validation.Overlap != want {
		t.Errorf("overlap %+v, want %+v", s.Validation.Overlap, want)
	}
	if s := inspect(t, Options{Train: texts(source, target)}); s.Validation != nil {
		t.Errorf("validation %+v, want nil", s.Validation)
	}
}

// No pair is held out that another one repeats, in memory and of a stream, and the same ones are in
// every run. Pairs that all repeat others are held out too.
func TestHeldOut(t *testing.T) {
	source, target := texttest.Pairs(1000)
	source, target = slices.Concat(source, source[1:501]), slices.Concat(target, target[1:501])
	for i := range 500 {
		source[1000+i] = strings.ToUpper(source[1000+i]) + "!"
	}
	lines := func(list []string) string { return strings.Join(list, "\n") + "\n" }
	files := Files(write(t, "src", lines(source), false), write(t, "tgt", lines(target), false))
	var references []string
	for name, pairs := range map[string]*Text{"memory": texts(source, target), "stream": files} {
		o := train.DefaultOptions()
		o.ShuffleWindow = 400
		c := mustRead(t, Options{Train: pairs, VocabSize: 300}, o)
		if h := c.HeldOut; c.ValidPairs != 75 || c.TrainPairs != 1425 || len(h.Pairs) != 75 || h.Near != 0 || h.Moved < 50 {
			t.Errorf("%s: %d validation and %d training pairs, %d near, %d moved; want 75, 1425, 0, about 150", name, c.ValidPairs, c.TrainPairs, h.Near, h.Moved)
		}
		for _, r := range c.References {
			if i := slices.Index(target, r); i >= 1 && i <= 500 {
				t.Errorf("%s: %q is held out, which is repeated", name, r)
			}
		}
		if references != nil && !slices.Equal(c.References, references) {
			t.Errorf("%s: other pairs are held out", name)
		}
		references = c.References
	}
	twice := texts(slices.Concat(source[:100], source[:100]), slices.Concat(target[:100], target[:100]))
	if c := mustRead(t, Options{Train: twice, VocabSize: 300}, train.DefaultOptions()); c.ValidPairs != 10 || c.HeldOut.Repeated != 10 || c.TrainPairs != 190 {
		t.Errorf("%d validation pairs, %d repeated, %d training pairs; want 10, 10, 190", c.ValidPairs, c.HeldOut.Repeated, c.TrainPairs)
	}
	o := train.DefaultOptions()
	o.ValidEvery = 0
	if c := mustRead(t, Options{Train: twice, VocabSize: 300}, o); c.HeldOut != nil {
		t.Errorf("%+v is held out without validation", c.HeldOut)
	}
}

// The number of distinct hashes is exact up to maxDistinct and then an estimate.
func TestDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 1000, maxDistinct, maxDistinct + 1, 50_000, 1_000_000} {
		var d distinct
		for range 2 {
			for i := range n {
				d.add(hash.Mix(uint64(i)))
			}
		}
		if off := math.Abs(float64(d.count()-n)) / float64(max(n, 1)); off > 0.045 || n <= maxDistinct && off > 0 {
			t.Errorf("count of %d = %d", n, d.count())
		}
		if n := len(d.hashes); n > maxDistinct {
			t.Errorf("%d hashes in memory, want at most %d", n, maxDistinct)
		}
	}
}

// A sample of a larger corpus has the shares of all pairs, also if the second half is different.
// The facts are the same in every run.
func TestSample(t *testing.T) {
	const n = 5 * maxSampled
	source := slices.Concat(slices.Repeat([]string{"ab cd ef"}, n/2), slices.Repeat([]string{"при вет"}, n/2))
	target := slices.Repeat([]string{"我们", "ab"}, n/2)
	s := inspect(t, Options{Train: texts(source, target)})
	if got, want := s.Source.Share(script.Latin), 0.5; !near(got, want) {
		t.Errorf("share of Latin %v, want about %v", got, want)
	}
	if got, want := s.Target.Share(script.Han), 0.5; !near(got, want) {
		t.Errorf("share of Han %v, want about %v", got, want)
	}
	letters, limit := s.Source.Letters[script.Latin]+s.Source.Letters[script.Cyrillic], int64(6*maxSampled)
	if letters > limit || letters < limit/3 {
		t.Errorf("%d sampled letters, want at most %d and more than a third of it", letters, limit)
	}
	if again := inspect(t, Options{Train: texts(source, target)}); !reflect.DeepEqual(s.Facts, again.Facts) {
		t.Errorf("facts %+v, then %+v", s.Facts, again.Facts)
	}
}
