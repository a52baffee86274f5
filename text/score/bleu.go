package score

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tfm/text/internal/exact"
)

// sacreBLEUVersion is the sacreBLEU release that the scores equal. Signatures name it.
const sacreBLEUVersion = "2.6.0"

// BLEU accumulates the statistics of a corpus for BLEU (Papineni et al. 2002) as sacreBLEU computes
// it (Post 2018, "A Call for Clarity in Reporting BLEU Scores"). The zero value is sacreBLEU's
// default for a corpus. The exported fields must not change after the first Add. A BLEU is not safe
// for concurrent use.
type BLEU struct {
	Tokenizer   Tokenizer // Auto is Tok13a; see Tokenizer.For
	Lowercase   bool
	Order       int // longest n-grams; 0 is 4
	Smoothing   Smoothing
	SmoothValue float64 // numerator of Floor (0 is 0.1), k of AddK (0 is 1)

	// EffectiveOrder leaves out the orders for which the hypotheses are too short. It is meant
	// for single sentences.
	EffectiveOrder bool

	accumulator
	scratch *bleuScratch
}

// bleuScratch is the memory of the count of one segment.
type bleuScratch struct {
	ids     tokenIDs
	hyp     []uint32
	ref     [][]uint32
	matches []int
	matcher ngramMatcher
}

// Smoothing is the precision of an order without matches (Chen and Cherry 2014, "A Systematic
// Comparison of Smoothing Techniques for Sentence-Level BLEU").
type Smoothing int

const (
	Exp      Smoothing = iota // 1/(2^k · total) for the k-th such order (method 3)
	Floor                     // SmoothValue/total (method 1)
	AddK                      // (correct+k)/(total+k) for all orders above 1 (method 2)
	NoSmooth                  // 0, which makes the score 0
)

var smoothingNames = [...]string{Exp: "exp", Floor: "floor", AddK: "add-k", NoSmooth: "none"}

// String returns sacreBLEU's name of the smoothing.
func (s Smoothing) String() string {
	if s < 0 || int(s) >= len(smoothingNames) {
		return fmt.Sprintf("Smoothing(%d)", int(s))
	}
	return smoothingNames[s]
}

// MarshalText returns the name of s, or an error if s is not one of the constants.
func (s Smoothing) MarshalText() ([]byte, error) {
	name := []byte(s.String())
	return name, s.UnmarshalText(name)
}

// UnmarshalText sets s to the smoothing with a name: exp, floor, add-k or none.
func (s *Smoothing) UnmarshalText(name []byte) error {
	i := slices.Index(smoothingNames[:], string(name))
	if i < 0 {
		return fmt.Errorf("BLEU smoothing %q: expected exp, floor, add-k or none", name)
	}
	*s = Smoothing(i)
	return nil
}

func (b *BLEU) order() int {
	if b.Order == 0 {
		return 4
	}
	return b.Order
}

func (b *BLEU) tokenizer() Tokenizer {
	if b.Tokenizer == Auto {
		return Tok13a
	}
	return b.Tokenizer
}

func (b *BLEU) smoothValue() float64 {
	switch {
	case b.SmoothValue != 0:
		return b.SmoothValue
	case b.Smoothing == Floor:
		return 0.1
	}
	return 1
}

// Add adds one segment. With several references, the matches of an n-gram are clipped to the
// maximum of its counts in them, and the reference length is the one closest to that of the
// hypothesis, of two equally close ones the shorter.
func (b *BLEU) Add(hypothesis, reference string, more ...string) {
	b.add(b, hypothesis, reference, more)
}

// The statistics of a segment: the lengths of the hypothesis and the reference in tokens, and for
// each order the matched n-grams and all n-grams of the hypothesis.
const (
	bleuHypLen = iota
	bleuRefLen
	bleuCorrect // of order 1
)

func (b *BLEU) columns() int { return bleuCorrect + 2*b.order() }

// correctTotal returns the n-grams of each order in statistics.
func correctTotal[F float](s []F) (correct, total []F) {
	counts := s[bleuCorrect:]
	return counts[:len(counts)/2], counts[len(counts)/2:]
}

func (b *BLEU) count(row []float64, hypothesis string, references []string) {
	if b.scratch == nil {
		b.scratch = new(bleuScratch)
	}
	c := b.scratch
	if c.ids == nil {
		c.ids = make(tokenIDs)
	}
	clear(c.ids)
	c.matches = append(c.matches[:0], make([]int, b.order())...)
	for len(c.ref) < len(references) {
		c.ref = append(c.ref, nil)
	}

	c.hyp = c.ids.ids(c.hyp[:0], b.tokens(hypothesis))
	hyp, closest := len(c.hyp), -1 // lengths
	for r, text := range references {
		c.ref[r] = c.ids.ids(c.ref[r][:0], b.tokens(text))
		ref := len(c.ref[r])
		d, least := abs(ref-hyp), abs(closest-hyp)
		if closest < 0 || d < least || d == least && ref < closest {
			closest = ref
		}
	}
	c.matcher.match(c.matches, c.hyp, c.ref[:len(references)]...)
	row[bleuHypLen], row[bleuRefLen] = float64(hyp), float64(closest)
	correct, total := correctTotal(row)
	for n := range correct {
		correct[n], total[n] = float64(c.matches[n]), float64(ngrams(hyp, n+1))
	}
}

func (b *BLEU) tokens(s string) []string {
	if b.Lowercase {
		s = pythonLower(s)
	}
	return b.Tokenizer.Tokens(s)
}

func abs(x int) int { return max(x, -x) }

// BLEUResult is a BLEU score and its components.
type BLEUResult struct {
	Score          float64   // 0 to 100
	Precisions     []float64 // of each order from 1, smoothed, 0 to 100
	Correct, Total []int     // n-grams of each order: matched and all of the hypotheses
	BrevityPenalty float64   // 0 to 1
	HypLen, RefLen int       // tokens
	Signature      string    // settings in sacreBLEU's notation
}

// Score returns the score of the segments added so far. More segments may be added afterwards.
//
//	BLEU = BP · exp(1/N · Σ log p_n),  BP = min(1, exp(1 - refLen/hypLen))
func (b *BLEU) Score() BLEUResult {
	sums := b.totals(b)
	correct, total := correctTotal(sums)
	s := BLEUResult{
		Correct:        ints(correct),
		Total:          ints(total),
		BrevityPenalty: brevityPenalty(sums),
		HypLen:         int(sums[bleuHypLen]),
		RefLen:         int(sums[bleuRefLen]),
		Signature:      b.signature(b.references, ""),
	}
	s.Precisions, _ = precisions(b, sums, b.smoothValue())
	s.Score = b.score(sums)
	return s
}

// ints converts counts.
func ints(counts []float64) []int {
	n := make([]int, len(counts))
	for i, c := range counts {
		n[i] = int(c)
	}
	return n
}

func brevityPenalty[F float](sums []F) float64 {
	hyp, ref := float64(sums[bleuHypLen]), float64(sums[bleuRefLen])
	switch {
	case hyp >= ref:
		return 1
	case hyp == 0:
		return 0
	}
	return exact.Exp(1 - ref/hyp)
}

// precisions returns the precision of each order, smoothed, and the number of orders that count.
// Without any match it returns zeros, because smoothing needs one.
func precisions[F float](b *BLEU, sums []F, smoothValue float64) (p []F, orders int) {
	correct, total := correctTotal(sums)
	p = make([]F, len(correct))
	if slices.Max(correct) == 0 {
		return p, len(p)
	}
	divisor := F(1)
	orders = len(p)
	for n := range p {
		correct, total := correct[n], total[n]
		if b.Smoothing == AddK && n > 0 {
			correct += F(smoothValue)
			total += F(smoothValue)
		}
		if total == 0 {
			break
		}
		if b.EffectiveOrder {
			orders = n + 1
		}
		switch {
		case correct > 0:
			p[n] = 100 * correct / total
		case b.Smoothing == Exp:
			divisor *= 2
			p[n] = 100 / (divisor * total)
		case b.Smoothing == Floor:
			p[n] = F(100*smoothValue) / total
		}
	}
	return p, orders
}

// bleuOf returns the score of a corpus from the sums of its statistics.
func bleuOf[F float](b *BLEU, sums []F, smoothValue float64) float64 {
	p, orders := precisions(b, sums, smoothValue)
	sum := 0.0
	for _, p := range p[:orders] {
		sum += exact.Log(float64(p)) // -Inf for 0, so that the score is 0
	}
	return brevityPenalty(sums) * exact.Exp(sum/float64(orders))
}

func (b *BLEU) score(sums []float64) float64 { return bleuOf(b, sums, b.smoothValue()) }

func (b *BLEU) scoreResample(sums []float32) (float64, bool) {
	return bleuOf(b, sums, b.smoothValue()), false
}

// scoreTrial truncates the k of add-k, because sacreBLEU adds it to integers of numpy there.
func (b *BLEU) scoreTrial(sums []float64) float64 {
	k := b.smoothValue()
	if b.Smoothing == AddK {
		k = math.Trunc(k)
	}
	return bleuOf(b, sums, k)
}

func (b *BLEU) name() string { return "BLEU" }

// worker returns a copy with its own memory.
func (b *BLEU) worker() Metric {
	w := *b
	w.scratch = nil
	return &w
}

// signature returns the settings in sacreBLEU's notation. The fields of a test of significance
// follow the number of references. The version names this program and the sacreBLEU release whose
// scores it equals.
func (b *BLEU) signature(references referenceCount, test string) string {
	smooth := b.Smoothing.String()
	if b.Smoothing == Floor || b.Smoothing == AddK {
		smooth += fmt.Sprintf("[%.2f]", b.smoothValue())
	}
	return fmt.Sprintf("nrefs:%v|%scase:%s|eff:%s|tok:%v|smooth:%s|version:tfm-%s",
		references, test, caseName(b.Lowercase), yesNo(b.EffectiveOrder), b.tokenizer(), smooth, sacreBLEUVersion)
}

// String returns the score as sacreBLEU prints it:
//
//	BLEU = 36.40 68.1/43.2/29.8/20.9 (BP = 1.000 ratio = 1.004 hyp_len = 12150 ref_len = 12103)
func (s BLEUResult) String() string { return fmt.Sprintf("BLEU = %.2f %s", s.Score, s.Details()) }

// Details returns what String prints after the score.
func (s BLEUResult) Details() string {
	precisions := make([]string, len(s.Precisions))
	for n, p := range s.Precisions {
		precisions[n] = fmt.Sprintf("%.1f", p)
	}
	ratio := 0.0
	if s.RefLen > 0 {
		ratio = float64(s.HypLen) / float64(s.RefLen)
	}
	return fmt.Sprintf("%s (BP = %.3f ratio = %.3f hyp_len = %d ref_len = %d)",
		strings.Join(precisions, "/"), s.BrevityPenalty, ratio, s.HypLen, s.RefLen)
}

// referenceCount is the number of references of each segment, in signatures "var" if it varies.
type referenceCount struct {
	n      int
	varies bool
}

func (r *referenceCount) add(n int) {
	r.varies = r.varies || r.n != 0 && r.n != n
	r.n = n
}

func (r referenceCount) String() string {
	if r.varies {
		return "var"
	}
	return fmt.Sprint(max(r.n, 1))
}

func caseName(lower bool) string {
	if lower {
		return "lc"
	}
	return "mixed"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
