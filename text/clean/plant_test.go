package clean

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/charset"
)

// planted is a line of a corpus and its fault.
type planted struct {
	source, target string
	fault          Fault
}

// plantedFaults are the faults that plant makes, in files of two sides.
var plantedFaults = []Fault{InvalidUTF8, Empty, Replacement, Mojibake, Control, Markup, Length, Copy, WrongScript, Repetition, Ratio, Numbers, Duplicate, Misaligned}

// plant returns pairs with a share of each of plantedFaults, and the others unchanged.
func plant(pairs []text.Pair, share float64, r *rand.Rand) []planted {
	list := make([]planted, len(pairs))
	for i, p := range pairs {
		list[i] = planted{source: p.Source, target: p.Target}
	}
	n := int(share * float64(len(list)))
	other := func() text.Pair { return pairs[r.IntN(len(pairs))] }
	// take returns an unchanged pair that suits.
	take := func(suits func(*planted) bool) *planted {
		for range 100 * len(list) {
			if p := &list[r.IntN(len(list))]; p.fault == None && suits(p) {
				return p
			}
		}
		return nil
	}
	any := func(*planted) bool { return true }
	side := func(p *planted) *string {
		if r.IntN(2) == 0 {
			return &p.source
		}
		return &p.target
	}
	each := func(f Fault, suits func(*planted) bool, change func(*planted)) {
		for range n {
			if p := take(suits); p != nil {
				p.fault = f
				change(p)
			}
		}
	}
	insert := func(s *string, what string) {
		at := r.IntN(len(*s) + 1)
		for at < len(*s) && !utf8.RuneStart((*s)[at]) {
			at++
		}
		*s = (*s)[:at] + what + (*s)[at:]
	}
	// The rare conditions first.
	each(Numbers, any, func(p *planted) {
		a, b := parseNumbers(p.source), parseNumbers(p.target)
		if len(a) == 1 && len(b) == 1 && a[0].key() == b[0].key() && strings.Contains(p.target, b[0].digits) {
			changed := fmt.Sprint(1+r.IntN(9), 1+r.IntN(9))
			changed = strings.ReplaceAll(changed, " ", "")
			if changed == a[0].key() || sameHour(changed, a[0].digits) {
				changed = "77"
			}
			p.target = strings.Replace(p.target, b[0].digits, changed, 1)
			return
		}
		x := 13 + r.IntN(900)
		p.source += fmt.Sprintf(" (%d)", x)
		p.target += fmt.Sprintf(" (%d)", x+1+r.IntN(8))
	})
	accented := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) })
	}
	each(Mojibake, func(p *planted) bool { return accented(p.source) || accented(p.target) }, func(p *planted) {
		s := &p.target
		if !accented(*s) {
			s = &p.source
		}
		var b strings.Builder
		for _, c := range []byte(*s) {
			x := string(rune(c))
			if decoded, ok := charset.Windows1252.Decode(string([]byte{c})); 0x80 <= c && c < 0xA0 && ok && r.IntN(2) == 0 {
				x = decoded
			}
			b.WriteString(x)
		}
		*s = b.String()
	})
	each(InvalidUTF8, any, func(p *planted) { insert(side(p), []string{"\xff", "\xe4", "\xed\xa0\x80", "\xc3"}[r.IntN(4)]+" ") })
	each(Empty, any, func(p *planted) { *side(p) = []string{"", " ", "\u00a0 "}[r.IntN(3)] })
	each(Replacement, any, func(p *planted) { insert(side(p), "\uFFFD") })
	each(Control, any, func(p *planted) { insert(side(p), []string{"\x01", "\x00", "\u0093", "\u2028", "\x1b[1m"}[r.IntN(5)]) })
	each(Markup, any, func(p *planted) {
		s := side(p)
		switch r.IntN(5) {
		case 0:
			*s = "<b>" + *s + "</b>"
		case 1:
			insert(s, "<br />")
		case 2:
			insert(s, []string{"&nbsp;", "&amp;", "&#39;", "&quot;"}[r.IntN(4)])
		case 3:
			*s = `<a href="x.html">` + *s
		default:
			*s = `{\an8}` + *s
		}
	})
	each(Length, any, func(p *planted) {
		for len(strings.Fields(p.source)) <= 220 && len([]rune(p.source)) < 2500 {
			q := other()
			p.source, p.target = p.source+" "+q.Source, p.target+" "+q.Target
		}
	})
	each(Copy, any, func(p *planted) {
		s := *side(p)
		p.source, p.target = s, strings.TrimRight(s, ".!?。")
		if r.IntN(2) == 0 {
			p.target = strings.ToUpper(p.target)
		}
	})
	each(WrongScript, any, func(p *planted) {
		first := []rune{'а', 'α', 'ก', 'ա', 'अ'}[r.IntN(5)]
		s := side(p)
		*s = strings.Map(func(c rune) rune {
			if unicode.IsLetter(c) {
				return first + unicode.ToLower(c)%20
			}
			return c
		}, *s)
	})
	each(Repetition, any, func(p *planted) {
		s := side(p)
		words := strings.Fields(*s)
		if len(words) == 1 {
			words = strings.Split(*s, "")
		}
		at := r.IntN(len(words))
		phrase := strings.Join(words[at:min(len(words), at+1+r.IntN(2))], " ")
		*s = strings.Join(words[:at], " ") + strings.Repeat(" "+phrase, 5+r.IntN(8)) + " " + strings.Join(words[at:], " ")
	})
	each(Ratio, func(p *planted) bool { return len(p.source) > 20 }, func(p *planted) {
		s := side(p)
		for range 6 + r.IntN(3) {
			if q := other(); s == &p.source {
				*s += " " + q.Source
			} else {
				*s += " " + q.Target
			}
		}
	})
	var last *planted
	var first string
	each(Misaligned, any, func(p *planted) {
		if last == nil {
			first = p.target
		} else {
			last.target = p.target
		}
		last = p
	})
	if last != nil {
		last.target = first
	}
	for range n {
		p := *take(any)
		p.fault = Duplicate
		list = append(list, p) // after the other
	}
	return list
}

// measureFaults writes the corpus to files, cleans it, and logs recall and precision. It returns
// them by fault.
func measureFaults(t *testing.T, corpus []planted, o Options) (recall, precision [NumFaults]float64, wrong float64) {
	t.Helper()
	dir := t.TempDir()
	var src, tgt strings.Builder
	for _, p := range corpus {
		src.WriteString(strings.ReplaceAll(p.source, "\n", " ") + "\n")
		tgt.WriteString(strings.ReplaceAll(p.target, "\n", " ") + "\n")
	}
	names := [2]string{filepath.Join(dir, "src"), filepath.Join(dir, "tgt")}
	for i, b := range []*strings.Builder{&src, &tgt} {
		if err := os.WriteFile(names[i], []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var have, found, named, under, right [NumFaults]int
	show := os.Getenv("TFM_SHOW")
	shown := map[string]int{}
	report, err := Clean(context.Background(), text.Files{Source: names[0], Target: names[1]}.RepairedPairs(), o, func(p *text.RepairedPair, f Fault) error {
		c := corpus[p.Line-1]
		have[c.fault]++
		under[f]++
		if f != None {
			found[c.fault]++
		}
		if f == c.fault {
			named[f]++
		}
		if f != None && c.fault != None {
			right[f]++
		}
		if key := c.fault.String() + ">" + f.String(); f != c.fault && show != "" && shown[key] < 12 {
			shown[key]++
			t.Logf("%s: %s ||| %s", key, p.Source, p.Target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for s, n := range shown {
		if !strings.HasPrefix(s, ">") && show != "" {
			t.Logf("%s %d", s, n)
		}
	}
	t.Logf("%d pairs, sample of %d", report.Pairs, report.Sampled)
	for f := None + 1; f < numFaults; f++ {
		if have[f]+under[f] == 0 {
			continue
		}
		recall[f], precision[f] = float64(found[f])/float64(max(have[f], 1)), float64(right[f])/float64(max(under[f], 1))
		t.Logf("%-15s planted %5d  recall %.4f  under this name %.4f  dropped %5d  precision %.4f  wrong %.4f%%", f, have[f], recall[f], float64(named[f])/float64(max(have[f], 1)),
			under[f], precision[f], 100*float64(under[f]-right[f])/float64(max(have[None], 1)))
	}
	wrong = float64(found[None]) / float64(max(have[None], 1))
	t.Logf("dropped pairs without a planted fault: %d of %d, %.3f%%", found[None], have[None], 100*wrong)
	return recall, precision, wrong
}

// realCorpora are the files of realCorpus below the folder that TFM_DATA names.
var realCorpora = []string{"multi30k/raw/train.en.gz multi30k/raw/train.de.gz", "multi30k/raw/train.en.gz multi30k/raw/train.fr.gz",
	"multi30k/raw/train.en.gz multi30k/raw/train.cs.gz", "tatoeba/eng-cmn.train.tsv.gz", "tatoeba/eng-deu.train.tsv.gz", "tatoeba/eng-fra.train.tsv.gz",
	"debian-descriptions/en-de.train.tsv.gz", "debian-descriptions/en-zh_CN.train.tsv.gz"}

// TestRealCorpora prints recall and precision by fault on real corpora with planted faults, 1 % of
// each:
//
//	TFM_DATA=FOLDER go test ./text/clean -run TestRealCorpora -v
func TestRealCorpora(t *testing.T) {
	dir := os.Getenv("TFM_DATA")
	if dir == "" {
		t.Skip("optional: TFM_DATA names no folder of corpora")
	}
	for _, names := range realCorpora {
		t.Run(strings.NewReplacer(" ", "+", "/", "_").Replace(names), func(t *testing.T) {
			files := strings.Fields(names)
			for i := range files {
				files[i] = filepath.Join(dir, files[i])
			}
			corpus := text.Files{Source: files[0]}
			if len(files) == 2 {
				corpus.Target = files[1]
			}
			var list []text.Pair
			seen := map[[2]string]bool{}
			for p, err := range corpus.Pairs() {
				if err != nil {
					t.Skip("optional: ", err)
				}
				if key := [2]string{p.Source, p.Target}; !seen[key] {
					seen[key] = true
					list = append(list, p)
				}
			}
			if n, err := strconv.Atoi(os.Getenv("TFM_PAIRS")); err == nil {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				list = list[:min(n, len(list))]
			}
			t.Run("clean", func(t *testing.T) {
				measureFaults(t, plant(list, 0, rand.New(rand.NewPCG(1, 1))), DefaultOptions())
			})
			t.Run("planted", func(t *testing.T) {
				measureFaults(t, plant(list, 0.01, rand.New(rand.NewPCG(1, 1))), DefaultOptions())
			})
		})
	}
}
