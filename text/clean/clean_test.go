package clean

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/text"
)

// pairsOf returns a corpus of pairs in memory.
func pairsOf(pairs []text.Pair) iter.Seq2[text.RepairedPair, error] {
	return func(yield func(text.RepairedPair, error) bool) {
		for i, p := range pairs {
			p.Line = i + 1
			if !yield(text.RepairedPair{Pair: p, Bytes: len(p.Source) + len(p.Target) + 2, Columns: 2}, nil) {
				return
			}
		}
	}
}

// invented returns n pairs of invented languages. If unspaced, the targets have one Chinese
// character for each syllable, and no spaces.
func invented(n int, unspaced bool) []text.Pair {
	source, target := texttest.Pairs(n)
	pairs := make([]text.Pair, n)
	for i := range pairs {
		if unspaced {
			target[i] = chinese.Replace(target[i])
		}
		pairs[i] = text.Pair{Source: source[i], Target: target[i]}
	}
	return pairs
}

var chinese = strings.NewReplacer("schr", "书", "ein", "一", "und", "和", "gül", "花", "ört", "地", "pfa", "路", "ach", "水", "ung", "学", "zwi", "中", "eck", "角", " ", "", ".", "。")

// faultsOf returns the faults of all pairs.
func faultsOf(t *testing.T, pairs []text.Pair, o Options) ([]Fault, *Report) {
	t.Helper()
	var faults []Fault
	r, err := Clean(context.Background(), pairsOf(pairs), o, func(p *text.RepairedPair, f Fault) error {
		if faults = append(faults, f); p.Line != len(faults) || p.Source != pairs[p.Line-1].Source {
			t.Fatalf("pair %d is that of line %d", len(faults), p.Line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Pairs != len(pairs) || r.Kept() > len(faults) || len(faults) != len(pairs) {
		t.Errorf("report %+v and %d faults of %d pairs", r, len(faults), len(pairs))
	}
	return faults, r
}

// Planted faults are found, and few others. The limits are near the results, which are the same on
// every machine.
func TestPlantedFaults(t *testing.T) {
	for _, unspaced := range []bool{false, true} {
		pairs := invented(1500, unspaced)
		recall, precision, wrong := measureFaults(t, plant(pairs, 0.01, rand.New(rand.NewPCG(1, 1))), DefaultOptions())
		for _, f := range plantedFaults {
			minRecall, minPrecision := 0.99, 0.99
			switch {
			case f == Misaligned && unspaced:
				continue // the nine characters hardly say what translates what
			case f == Misaligned:
				minRecall = 0.7 // most words occur a few times only
			case f == Repetition && unspaced:
				minPrecision = 0.3 // the nine characters repeat by chance
			}
			if recall[f] < minRecall || precision[f] < minPrecision {
				t.Errorf("unspaced %v, %s: recall %.3f, precision %.3f, want %.2f and %.2f", unspaced, f, recall[f], precision[f], minRecall, minPrecision)
			}
		}
		if testing.Short() {
			return // one corpus shows that a machine or the race detector finds nothing else
		}
		limit := 0.002
		if unspaced {
			limit = 0.03 // repetitions
		}
		if _, _, none := measureFaults(t, plant(pairs, 0, rand.New(rand.NewPCG(1, 1))), DefaultOptions()); max(wrong, none) > limit {
			t.Errorf("unspaced %v: %.4f and without faults %.4f of the good pairs are dropped, want at most %.3f", unspaced, wrong, none, limit)
		}
	}
}

// The limit separates misaligned pairs from good ones where their scores differ, and drops few
// where they do not. The figures are medians of several draws.
func TestMisalignedLimit(t *testing.T) {
	const draws = 25
	for _, c := range []struct {
		good, misaligned         int     // mean scores; that of decoys is -20,000
		pairs, planted, decoys   int     // misaligned pairs and decoys
		recall, precision, wrong float64 // least, least, most; wrong: share of the good pairs
		limited                  bool    // whether there is a limit
	}{
		{20000, -20000, 20000, 200, 600, 0.8, 0.85, 0.002, true},
		{20000, -18500, 20000, 200, 600, 0.6, 0.85, 0.002, true},
		{20000, -20000, 20000, 4000, 600, 0.97, 0.88, 0.03, true},
		{20000, -20000, 20000, 0, 600, 0, 0, 0.0001, true},
		{20000, -20000, 1500, 15, 180, 0.8, 0.7, 0.005, true},
		{5000, -20000, 20000, 200, 600, 0.4, 0.6, 0.004, true},
		{-10000, -20000, 20000, 200, 600, 0, 0, 0.02, true},
		{-20000, -20000, 20000, 200, 600, 0, 0, 0, false},
	} {
		r := rand.New(rand.NewPCG(5, 5))
		draw := func(n, mean int) []int {
			list := make([]int, n)
			for i := range list {
				list[i] = mean + int(9000*r.NormFloat64())
			}
			return list
		}
		var recall, precision, wrong []float64
		for range draws {
			good, bad, decoys := draw(c.pairs, c.good), draw(c.planted, c.misaligned), draw(c.decoys, -20000)
			limit, ok := misalignedLimit(slices.Concat(good, bad), decoys, 0.9)
			if ok != c.limited {
				t.Errorf("%+v: a limit: %v", c, ok)
			}
			upTo := func(list []int) (n float64) {
				for _, x := range list {
					if ok && x <= limit {
						n++
					}
				}
				return n
			}
			recall = append(recall, upTo(bad)/max(float64(c.planted), 1))
			precision = append(precision, upTo(bad)/max(upTo(bad)+upTo(good), 1))
			wrong = append(wrong, upTo(good)/float64(c.pairs))
		}
		median := func(list []float64) float64 {
			slices.Sort(list)
			return list[len(list)/2]
		}
		t.Logf("%+v: recall %.2f, least %.2f; precision %.2f; wrong %.4f, most %.4f", c, median(recall), recall[0], median(precision), median(wrong), wrong[draws-1])
		if median(recall) < c.recall || median(precision) < c.precision || median(wrong) > c.wrong {
			t.Errorf("%+v: recall %.3f, precision %.3f, wrong %.4f", c, median(recall), median(precision), median(wrong))
		}
	}
}

// The result does not depend on the threads, nor on the size of the table of hashes.
func TestCleanIsDeterministic(t *testing.T) {
	const n = 1200
	all := invented(n+300, false)
	pairs := slices.Clone(all[:n])
	r := rand.New(rand.NewPCG(2, 2))
	for i := range 300 {
		p := pairs[r.IntN(n)]
		switch r.IntN(5) {
		case 0:
			p.Source = strings.ToUpper(p.Source) + "!"
		case 1:
			p = text.Pair{Source: all[n+i].Source, Target: all[n+(i+1)%300].Target}
		case 2:
			p.Target = pairs[r.IntN(n)].Target
		case 3:
			p.Source += " ka to"
		}
		pairs = append(pairs, p)
	}
	o := DefaultOptions()
	o.Keep[NearDuplicate], o.PerSource, o.PerTarget, o.Threads = false, 1, 1, 1
	want, report := faultsOf(t, pairs, o)
	for _, f := range []Fault{Duplicate, NearDuplicate, RepeatedSource, RepeatedTarget, Misaligned} {
		if report.Dropped[f] == 0 {
			t.Errorf("no pair has the fault %q", f)
		}
	}
	defer func(n int) { maxHashes = n }(maxHashes)
	for _, n := range []int{maxHashes, 400} {
		maxHashes = n
		o.Threads++
		if got, _ := faultsOf(t, pairs, o); !slices.Equal(got, want) {
			t.Errorf("%d threads, %d hashes: other faults", o.Threads, n)
		}
	}
}

func TestRepeated(t *testing.T) {
	pairs := []text.Pair{{Source: "a dog", Target: "ein Hund"}, {Source: "a dog", Target: "ein Hund"}, {Source: "A dog!", Target: "Ein Hund."}, {Source: "a dog", Target: "der Hund"},
		{Source: "a dog", Target: "Hunde"}, {Source: "the dog", Target: "der Hund"}, {Source: "12 dogs", Target: "12 Hunde"}, {Source: "34 dogs", Target: "34 Hunde"}}
	o := DefaultOptions()
	if got, _ := faultsOf(t, pairs, o); !slices.Equal(got, []Fault{None, Duplicate, None, None, None, None, None, None}) {
		t.Errorf("faults %q", got)
	}
	o.Keep[NearDuplicate], o.PerSource, o.PerTarget = false, 2, 1
	got, r := faultsOf(t, pairs, o)
	if !slices.Equal(got, []Fault{None, Duplicate, NearDuplicate, None, RepeatedSource, RepeatedTarget, None, NearDuplicate}) {
		t.Errorf("faults %q", got)
	}
	if !slices.Equal(r.Unjudged, []Fault{Ratio, Misaligned}) {
		t.Errorf("unjudged %q", r.Unjudged)
	}
	o = DefaultOptions()
	o.Keep[Duplicate], o.Ratio, o.Misaligned = true, 0, 0
	if got, r := faultsOf(t, pairs, o); slices.ContainsFunc(got, func(f Fault) bool { return f != None }) || r.Unjudged != nil {
		t.Errorf("faults %q, unjudged %q, want none", got, r.Unjudged)
	}
}

func TestCleanErrors(t *testing.T) {
	pairs := invented(1300, false)
	broken := errors.New("broken")
	nop := func(*text.RepairedPair, Fault) error { return nil }
	unlearned := DefaultOptions()
	unlearned.Misaligned = 0 // saves time
	for reading := range 2 {
		n := 0
		corpus := func(yield func(text.RepairedPair, error) bool) {
			for p := range pairsOf(pairs) {
				if p.Line == 1250 && n == reading {
					yield(text.RepairedPair{}, broken)
					return
				}
				if !yield(p, nil) {
					return
				}
			}
			n++
		}
		if _, err := Clean(context.Background(), corpus, unlearned, nop); err != broken {
			t.Errorf("reading %d: error %v, want %v", reading, err, broken)
		}
	}
	if _, err := Clean(context.Background(), pairsOf(pairs), unlearned, func(*text.RepairedPair, Fault) error { return broken }); err != broken {
		t.Errorf("error %v, want that of visit", err)
	}
	for _, stage := range []Stage{Surveying, Learning, Cleaning} {
		ctx, cancel := context.WithCancelCause(context.Background())
		o := DefaultOptions()
		o.Progress = func(p Progress) {
			if p.Stage == stage {
				cancel(broken)
			}
			if p.Pairs <= 0 || p.Done > 1 || p.Done < 0 && p.Stage != Surveying {
				t.Errorf("progress %+v", p)
			}
		}
		if _, err := Clean(ctx, pairsOf(pairs), o, nop); err != broken {
			t.Errorf("%s: error %v, want the cause", stage, err)
		}
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.MinLen = -1 }, func(o *Options) { o.MinLen = 300 }, func(o *Options) { o.MaxWord = 0 }, func(o *Options) { o.Ratio = -1 },
		func(o *Options) { o.PerSource = -1 }, func(o *Options) { o.PerTarget = -1 }, func(o *Options) { o.Misaligned = 2 },
	} {
		o := DefaultOptions()
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
		if change(&o); o.Validate() == nil {
			t.Errorf("%+v is valid", o)
		}
	}
}

// A sample keeps its limits, and depends on line numbers only.
func TestSample(t *testing.T) {
	var s sample
	var p pair
	p.Bytes = 1 << 10
	for i := range 300_000 {
		if p.Line = i + 1; s.has(p.Line) {
			s.add(&p)
		}
	}
	if n := len(s.pairs); n > maxSampleBytes>>10 || n < maxSampleBytes>>12 || !slices.IsSortedFunc(s.pairs, func(a, b sampledPair) int { return a.Line - b.Line }) {
		t.Errorf("sample of %d pairs", n)
	}
	for _, p := range s.pairs {
		if !s.has(p.Line) {
			t.Errorf("line %d is in the sample", p.Line)
		}
	}
}

// A pair of many words does not take the place of the others.
func TestSampleWithLongPair(t *testing.T) {
	var s sample
	for line := range 100 {
		p := pair{RepairedPair: text.RepairedPair{Pair: text.Pair{Line: line + 1, Source: "a b", Target: "c d"}}}
		if line == 50 {
			p.Source, p.Target = strings.Repeat("a b ", 5000), strings.Repeat("c d ", 5000)
		}
		p.measure()
		s.add(&p)
	}
	if len(s.pairs) != 100 {
		t.Errorf("sample of %d pairs, want all 100", len(s.pairs))
	}
}

// No corpus makes Clean panic, and a pair that is kept has no fault in a corpus of its own.
func FuzzClean(f *testing.F) {
	f.Add("Two dogs.\tZwei Hunde.\nTwo dogs.\tZwei Hunde.", false)
	f.Add("\xed\xa0\x80\t\x00\n\t\n<b\t&#;\n12,3.4'5\t一亿万十百", true)
	f.Add("Ã¤â€\t\u0301\u200D\n𝟘𝟡 ٣\t１,２", true)
	f.Add(strings.Repeat("a", 300)+"\t"+strings.Repeat("好", 300), false)
	f.Fuzz(func(t *testing.T, s string, limits bool) {
		var pairs []text.Pair
		for line := range strings.Lines(s) {
			source, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			pairs = append(pairs, text.Pair{Source: strings.ToValidUTF8(source, "\uFFFD"), Target: strings.ToValidUTF8(target, "\uFFFD")})
		}
		o := DefaultOptions()
		if limits {
			o.PerSource, o.PerTarget, o.MinLen, o.MaxLen = 1, 1, 0, 5
			o.Keep[NearDuplicate] = false
		}
		faults, _ := faultsOf(t, pairs, o)
		var kept []text.Pair
		for i, f := range faults {
			if f == None {
				kept = append(kept, pairs[i])
			}
		}
		again, _ := faultsOf(t, kept, o)
		for i, f := range again {
			// A script can be unusual only among the others.
			if f != None && f != WrongScript {
				t.Errorf("%+v has the fault %q without the dropped pairs", kept[i], f)
			}
		}
	})
}

func ExampleClean() {
	pairs := []text.Pair{{Source: "Two dogs.", Target: "Zwei Hunde."}, {Source: "Two dogs.", Target: "Zwei Hunde."}, {Source: "A <b>cat</b>.", Target: "Eine Katze."}}
	r, err := Clean(context.Background(), pairsOf(pairs), DefaultOptions(), func(p *text.RepairedPair, f Fault) error {
		fmt.Printf("%d %q\n", p.Line, f)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Kept())
	// Output:
	// 1 ""
	// 2 "duplicates"
	// 3 "markup"
	// 1
}
