package score

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// scoreTolerance covers the last bits of exp and log, and the rounding of the goldens. Expected
// scores that no comment derives are sacreBLEU 2.6.0's.
const scoreTolerance = 1e-9

var (
	hypotheses = []string{`The ferry leaves at 7.30, doesn't it?`, `Nobody knew "why" the lamp went out.`,
		`She paid 3,000 kroner for a second-hand boat.`, ``}
	references1 = []string{`The ferry leaves at 7.30, does it not?`, `No one knew why the lamp went out.`,
		`She paid 3,000 kroner for a used boat.`, `Nothing.`}
)

func TestBLEUTokenizers(t *testing.T) {
	for s, want := range map[string]map[Tokenizer]string{ // the tokens of s, joined with spaces
		"1,000.5 a.b, c. ": {
			Tok13a: "1,000.5 a . b , c .", TokNone: "1,000.5 a.b, c.", TokChar: "1 , 0 0 0 . 5 a . b , c .",
			TokZh: "1,000.5 a . b , c .", TokIntl: "1,000.5 a . b , c .",
		},
		"x-ray 10-20 7-": {Tok13a: "x-ray 10 - 20 7 -", TokIntl: "x - ray 10-20 7-"},
		"&quot;A&quot; &amp;lt; <skipped>b": {
			Tok13a: `" A " < b`, TokIntl: "& quot ; A & quot ; & amp ; lt ; < skipped > b",
			TokZh: "& quot ; A & quot ; & amp ; lt ; < skipped > b",
		},
		"(don't) {we} [try] a/b_c": {Tok13a: "( don't ) { we } [ try ] a / b _ c", TokIntl: "( don ' t ) { we } [ try ] a / b _ c"},
		"“Hi” – 5€ ½":              {Tok13a: "“Hi” – 5€ ½", TokZh: "“ Hi ” – 5 € ½", TokIntl: "“ Hi ” – 5 € ½"},
		"中文 abc，3.5元":              {Tok13a: "中文 abc，3.5元", TokZh: "中 文 abc ， 3.5 元", TokIntl: "中文 abc ， 3.5元", TokChar: "中 文 a b c ， 3 . 5 元"},
		"...":                      {Tok13a: ". . .", TokNone: "..."},
		"a\u00a0b\u3000c\x1cd\n":   {Tok13a: "a b c d", TokNone: "a b c d", TokChar: "a b c d", TokZh: "a b c d", TokIntl: "a b c d"},
		"co-\nop":                  {Tok13a: "coop", TokNone: "co- op"},
		"":                         {Tok13a: "", TokNone: "", TokChar: "", TokZh: "", TokIntl: ""},
		"a\xff.":                   {Tok13a: "a\xff .", TokChar: "a \xff ."},
	} {
		for tok, want := range want {
			if got := tok.Tokens(s); !slices.Equal(got, strings.Fields(want)) {
				t.Errorf("%v.Tokens(%q) = %q, want %q", tok, s, got, want)
			}
			name, err := tok.MarshalText()
			if back := namedTokenizer(t, tok.String()); back != tok || string(name) != tok.String() || err != nil {
				t.Errorf("%v: name %q, error %v, which names %v", tok, name, err, back)
			}
		}
	}
	wantError(t, new(Tokenizer).UnmarshalText([]byte("moses")), `"moses": expected auto, 13a, none, char, zh or intl`)
	for _, invalid := range []Tokenizer{-1, Tokenizer(len(tokenizers))} {
		_, err := invalid.MarshalText()
		wantError(t, err, invalid.String())
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func namedTokenizer(t *testing.T, name string) (tok Tokenizer) {
	t.Helper()
	if err := tok.UnmarshalText([]byte(name)); err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestPythonLower(t *testing.T) {
	for s, want := range map[string]string{
		"ÀÉ ẞ Ǆ": "àé ß ǆ", "İ": "i\u0307", "ΟΔΟΣ": "οδος", "ΣΑΣ ΣΑΣ": "σας σας", "Σ": "σ", "ΑΣ.Α": "ασ.α",
		"ΑΣ.": "ας.", "ΑΣ\u0301Α": "ασ\u0301α", "Α\u0301Σ": "α\u0301ς", "1Σ": "1σ", "İΣ": "i\u0307ς",
	} {
		if got := pythonLower(s); got != want {
			t.Errorf("pythonLower(%q) = %q, want %q", s, got, want)
		}
	}
}

// Other texts are in the goldens.
func TestBLEU(t *testing.T) {
	for _, c := range []struct {
		bleu               BLEU
		hyp, ref           []string
		score              float64
		printed, signature string
	}{
		{BLEU{}, hypotheses, references1, 52.84280064128465,
			"BLEU = 52.84 82.1/60.0/50.0/42.1 (BP = 0.931 ratio = 0.933 hyp_len = 28 ref_len = 30)",
			"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0"},
		{BLEU{}, nil, nil, 0, "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)",
			"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0"},
		{BLEU{}, []string{""}, []string{"a b"}, 0, "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 2)",
			"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfm-2.6.0"},
	} {
		s := Count(c.bleu, c.hyp, c.ref)
		if r := s.Result(); math.Abs(r.Score-c.score) > scoreTolerance || s.String() != c.printed || r.Signature != c.signature {
			t.Errorf("score %v\n%v\n%v\nwant %v\n%v\n%v", r.Score, s, r.Signature, c.score, c.printed, c.signature)
		}
	}
}

// "a b x d e f" matches "a b c d e g" in 4 of 6 words (a, b, d, e), 2 of 5 bigrams (a b, d e), and
// none of 4 trigrams and 3 4-grams. The lengths are equal, so BP is 1. "the old lamp" has no
// 4-gram.
func TestBLEUSmoothing(t *testing.T) {
	root4 := func(a, b, c, d float64) float64 { return 100 * math.Pow(a*b*c*d, 0.25) }
	for _, c := range []struct {
		bleu      BLEU
		six, old  float64 // scores of the two
		signature string
	}{
		{BLEU{}, root4(4./6, 2./5, 1./(2*4), 1./(4*3)), 0, "eff:no|tok:13a|smooth:exp|"},
		{BLEU{EffectiveOrder: true}, root4(4./6, 2./5, 1./(2*4), 1./(4*3)), 17.799177396293473, "eff:yes|"},
	} {
		six := Count(c.bleu, []string{"a b x d e f"}, []string{"a b c d e g"})
		old := Count(c.bleu, []string{"the old lamp"}, []string{"the new lamp is out"})
		if got := six.Result(); math.Abs(got.Score-c.six) > scoreTolerance || !strings.Contains(got.Signature, c.signature) {
			t.Errorf("%s: score %v, want %v, %s", got.Signature, got.Score, c.six, c.signature)
		}
		if got := old.Result(); math.Abs(got.Score-c.old) > scoreTolerance {
			t.Errorf("%s: score %v of a short segment, want %v", got.Signature, got.Score, c.old)
		}
	}
}

// Matches are clipped to the maximum count in a reference (Papineni et al., section 2.1: 2 of 7).
func TestBLEUClipping(t *testing.T) {
	s := Count(BLEU{}, []string{"the the the the the the the"}, []string{"the cat is on the mat"}, []string{"there is a cat on the mat"})
	if correct, total := correctTotal(s.sums()); correct[0] != 2 || total[0] != 7 {
		t.Errorf("%v of %v words match, want 2 of 7", correct[0], total[0])
	}
}

func TestBLEULowercase(t *testing.T) {
	var upper []string
	for _, h := range hypotheses {
		upper = append(upper, strings.ToUpper(h))
	}
	if s := Count(BLEU{Lowercase: true}, upper, references1).Result(); math.Abs(s.Score-52.84280064128465) > scoreTolerance || !strings.Contains(s.Signature, "case:lc") {
		t.Errorf("%v\n%s\nwant the score of the mixed case and case:lc", s, s.Signature)
	}
}

func FuzzBLEU(f *testing.F) {
	f.Add("The ferry, 7.30", "the \"ferry\"", 0)
	f.Add("渡轮\xff", "", 3)
	f.Fuzz(func(t *testing.T, hyp, ref string, tok int) {
		n := len(tokenizers)
		tokenizer := Tokenizer((tok%n + n) % n)
		b := BLEU{Tokenizer: tokenizer, Lowercase: tok%2 == 0}
		c := CHRF{WordOrder: 2}
		count := func(m Metric) *Statistics { return Count(m, []string{hyp}, []string{ref}) }
		if s, edits := count(TER{}).Result(), count(TER{}).sums()[terEdits]; !(s.Score >= 0) || edits < 0 || int(edits) > len(hyp)+len(ref)+1 {
			t.Fatalf("TER %v of %v edits", s.Score, edits)
		}
		for _, s := range []float64{count(b).Result().Score, count(c).Result().Score} {
			if !(s >= 0 && s <= 100+scoreTolerance) {
				t.Fatalf("score %v, want 0 to 100", s)
			}
		}
		same := Count(BLEU{Tokenizer: tokenizer}, []string{hyp}, []string{hyp})
		if _, total := correctTotal(same.sums()); total[3] > 0 && math.Abs(same.Result().Score-100) > scoreTolerance {
			t.Fatalf("score of a text against itself: %v, want 100", same)
		}
	})
}

func BenchmarkBLEU(b *testing.B) {
	lines := texttest.Lines(1000)
	for _, tok := range []Tokenizer{Tok13a, TokChar, TokIntl} {
		b.Run(fmt.Sprintf("tok=%v", tok), func(b *testing.B) {
			for range b.N {
				Count(BLEU{Tokenizer: tok}, lines, lines)
			}
			b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
