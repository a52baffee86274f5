package score

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// sacreBLEUVersion is the sacreBLEU release that the scores equal. Signatures name it.
const sacreBLEUVersion = "2.6.0"

// BLEU adds up the statistics of a corpus for BLEU (Papineni et al. 2002) as
// sacreBLEU computes it (Post 2018, "A Call for Clarity in Reporting BLEU
// Scores"). The zero value is sacreBLEU's default for a corpus. The exported
// fields must not change after the first Add. It is not safe for concurrent use.
type BLEU struct {
	Tokenizer Tokenizer // Auto stands for Tok13a; Auto.For chooses
	Lowercase bool
	Order     int // the longest n-grams; 0 stands for 4
	Smoothing Smoothing
	// SmoothValue is Floor's precision and AddK's k; 0 stands for 0.1 and 1.
	SmoothValue float64
	// EffectiveOrder leaves out the orders for which the hypotheses are too short.
	// It is meant for single sentences.
	EffectiveOrder bool

	correct, total   []int
	hypLen, refLen   int
	references       referenceCount
	hypSeen, refSeen map[string]int
}

// Smoothing says what stands for the precision of an order without matches
// (Chen and Cherry 2014, "A Systematic Comparison of Smoothing Techniques for
// Sentence-Level BLEU").
type Smoothing int

const (
	Exp      Smoothing = iota // 1/(2^k · total), for the k-th such order (method 3)
	Floor                     // SmoothValue/total (method 1)
	AddK                      // for all orders over 1, (correct+k)/(total+k) (method 2)
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

// Add counts one segment. With several references, an n-gram may match as often
// as in the one that has most of it, and the reference length is the one nearest
// to the hypothesis, of two equally near ones the shorter.
func (b *BLEU) Add(hypothesis, reference string, more ...string) {
	if b.correct == nil {
		b.correct, b.total = make([]int, b.order()), make([]int, b.order())
		b.hypSeen, b.refSeen = make(map[string]int), make(map[string]int)
	}
	b.references.add(1 + len(more))

	hyp := b.tokens(hypothesis)
	clear(b.refSeen)
	nearest := -1
	for _, r := range append([]string{reference}, more...) {
		ref := b.tokens(r)
		clear(b.hypSeen) // holds this reference's counts until it is merged
		for n := range b.order() {
			eachNgram(ref, n+1, func(g string) { b.hypSeen[g]++ })
		}
		for g, count := range b.hypSeen {
			b.refSeen[g] = max(b.refSeen[g], count)
		}
		d, best := abs(len(ref)-len(hyp)), abs(nearest-len(hyp))
		if nearest < 0 || d < best || d == best && len(ref) < nearest {
			nearest = len(ref)
		}
	}
	for n := range b.order() {
		eachNgram(hyp, n+1, func(g string) {
			b.total[n]++
			if b.refSeen[g] > 0 {
				b.refSeen[g]--
				b.correct[n]++
			}
		})
	}
	b.hypLen += len(hyp)
	b.refLen += nearest
}

func (b *BLEU) tokens(s string) []string {
	if b.Lowercase {
		s = pythonLower(s)
	}
	return b.Tokenizer.Tokens(s)
}

// eachNgram calls do with each run of n tokens, as one string: joined with
// spaces, which no token contains.
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

// BLEUResult is a score with everything that it is made of.
type BLEUResult struct {
	Score          float64   // 0 to 100
	Precisions     []float64 // for n = 1, 2, …, 0 to 100, smoothed
	Correct, Total []int     // n-grams of the hypotheses: matched and all
	BrevityPenalty float64   // 0 to 1
	HypLen, RefLen int       // tokens
	Signature      string    // how it was computed, as sacreBLEU notes it
}

// Score returns the score of the segments so far; more may be added.
//
//	BLEU = BP · exp(1/N · Σ log p_n),  BP = exp(1 - refLen/hypLen) if that is < 1
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
		return s // smoothing would make something of nothing
	}
	orders, halved := b.order(), 1.0
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
			halved *= 2
			s.Precisions[n] = 100 / (halved * total)
		case b.Smoothing == Floor:
			s.Precisions[n] = 100 * b.smoothValue() / total
		}
	}
	sum := 0.0
	for _, p := range s.Precisions[:orders] {
		sum += math.Log(p) // of 0: -Inf, and the score is 0
	}
	s.Score = s.BrevityPenalty * math.Exp(sum/float64(orders))
	return s
}

// signature says how the score is computed, in sacreBLEU's notation. Its version names this
// program and the release of sacreBLEU with which it agrees.
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

// referenceCount is the number of references of each segment, as signatures
// write it: "var" if it varies.
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
