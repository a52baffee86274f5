package score

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

	correct, total     []int // n-grams of each order: matched and all of the hypotheses
	hypLen, refLen     int   // tokens
	references         referenceCount
	refCounts, allRefs map[string]int // n-grams of one reference, and the maximum over references
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
	if b.correct == nil {
		b.correct, b.total = make([]int, b.order()), make([]int, b.order())
		b.refCounts, b.allRefs = make(map[string]int), make(map[string]int)
	}
	b.references.add(1 + len(more))

	hyp := b.tokens(hypothesis)
	clear(b.allRefs)
	closest := -1 // reference length
	for _, r := range append([]string{reference}, more...) {
		ref := b.tokens(r)
		clear(b.refCounts)
		for n := range b.order() {
			eachNgram(ref, n+1, func(g string) { b.refCounts[g]++ })
		}
		for g, count := range b.refCounts {
			b.allRefs[g] = max(b.allRefs[g], count)
		}
		d, least := abs(len(ref)-len(hyp)), abs(closest-len(hyp))
		if closest < 0 || d < least || d == least && len(ref) < closest {
			closest = len(ref)
		}
	}
	for n := range b.order() {
		eachNgram(hyp, n+1, func(g string) {
			b.total[n]++
			if b.allRefs[g] > 0 {
				b.allRefs[g]--
				b.correct[n]++
			}
		})
	}
	b.hypLen += len(hyp)
	b.refLen += closest
}

func (b *BLEU) tokens(s string) []string {
	if b.Lowercase {
		s = pythonLower(s)
	}
	return b.Tokenizer.Tokens(s)
}

// eachNgram calls do with each n-gram of the tokens, joined with spaces, which no token contains.
func eachNgram(tokens []string, n int, do func(string)) {
	line := strings.Join(tokens, " ")
	start, end := 0, -1
	for i, t := range tokens {
		end += 1 + len(t)
		if i >= n {
			start += len(tokens[i-n]) + 1
		}
		if i >= n-1 {
			do(line[start:end])
		}
	}
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
	s := BLEUResult{
		Precisions:     make([]float64, b.order()),
		Correct:        make([]int, b.order()),
		Total:          make([]int, b.order()),
		BrevityPenalty: 1,
		HypLen:         b.hypLen,
		RefLen:         b.refLen,
		Signature:      b.signature(),
	}
	copy(s.Correct, b.correct)
	copy(s.Total, b.total)
	switch {
	case s.HypLen == 0 && s.RefLen > 0:
		s.BrevityPenalty = 0
	case s.HypLen < s.RefLen:
		s.BrevityPenalty = math.Exp(1 - float64(s.RefLen)/float64(s.HypLen))
	}
	matched := 0
	for _, c := range s.Correct {
		matched += c
	}
	if matched == 0 {
		return s // no smoothing without any match
	}
	orders, divisor := b.order(), 1.0
	for n := range s.Precisions {
		correct, total := float64(s.Correct[n]), float64(s.Total[n])
		if b.Smoothing == AddK && n > 0 {
			correct += b.smoothValue()
			total += b.smoothValue()
		}
		if total == 0 {
			break
		}
		if b.EffectiveOrder {
			orders = n + 1
		}
		switch {
		case correct > 0:
			s.Precisions[n] = 100 * correct / total
		case b.Smoothing == Exp:
			divisor *= 2
			s.Precisions[n] = 100 / (divisor * total)
		case b.Smoothing == Floor:
			s.Precisions[n] = 100 * b.smoothValue() / total
		}
	}
	sum := 0.0
	for _, p := range s.Precisions[:orders] {
		sum += math.Log(p) // -Inf for 0, so that the score is 0
	}
	s.Score = s.BrevityPenalty * math.Exp(sum/float64(orders))
	return s
}

// signature returns the settings in sacreBLEU's notation. The version names this program and the
// sacreBLEU release whose scores it equals.
func (b *BLEU) signature() string {
	smooth := b.Smoothing.String()
	if b.Smoothing == Floor || b.Smoothing == AddK {
		smooth += fmt.Sprintf("[%.2f]", b.smoothValue())
	}
	return fmt.Sprintf("nrefs:%v|case:%s|eff:%s|tok:%v|smooth:%s|version:tfm-%s",
		b.references, caseName(b.Lowercase), yesNo(b.EffectiveOrder), b.tokenizer(), smooth, sacreBLEUVersion)
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
