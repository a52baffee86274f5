package detect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"tfm/text"
)

// lingua are the languages of FLORES that lingua-language-detector has too.
const lingua = "af ar az be bg bn bs ca cs cy da de el en es et fa fi fr gu he hi hr hu hy id is it ja ko lt lv mr ms nb nl pl pt ro ru sk sl sr sv ta te th tl tr uk vi zh"

// TestFlores prints the accuracy and calibration on FLORES, if TFM_FLORES names a folder
// with its sentences, a file LANGUAGE.gz for each language: whole sentences, their first 20
// characters and their first word of 4 letters or more (of scripts without spaces, 5 characters).
func TestFlores(t *testing.T) {
	dir := os.Getenv("TFM_FLORES")
	if dir == "" {
		t.Skip("optional: TFM_FLORES names no folder of FLORES")
	}
	type line struct{ lang, text string }
	var pieces [3][]line
	files, err := filepath.Glob(filepath.Join(dir, "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: found no files, error %v", dir, err)
	}
	var langs []string
	for _, path := range files {
		lang := strings.TrimSuffix(filepath.Base(path), ".gz")
		langs = append(langs, lang)
		f, err := text.OpenInput(path)
		if err != nil {
			t.Fatal(err)
		}
		for l, err := range text.RepairLines(f, path) {
			if err != nil {
				t.Fatal(err)
			}
			for i, piece := range []string{l.Text, prefix(l.Text, 20), firstWord(lang, l.Text)} {
				pieces[i] = append(pieces[i], line{lang, piece})
			}
		}
		f.Close()
	}
	measure := func(title string, d *Detector, among []string) {
		for i, name := range []string{"sentence", "20 characters", "word"} {
			right, n := map[string]int{}, map[string]int{}
			bins, binsRight, all := [10]int{}, [10]int{}, 0
			for _, l := range pieces[i] {
				if !slices.Contains(among, l.lang) {
					continue
				}
				got, confidence := d.Detect(l.text)
				bin := min(9, int(10*confidence))
				n[l.lang]++
				bins[bin]++
				if got == l.lang {
					right[l.lang]++
					binsRight[bin]++
					all++
				}
			}
			total := 0
			for _, x := range n {
				total += x
			}
			fmt.Printf("%s, %s: %.2f%% right\n ", title, name, 100*float64(all)/float64(total))
			for _, lang := range among {
				fmt.Printf(" %s:%.1f", lang, 100*float64(right[lang])/float64(max(1, n[lang])))
			}
			fmt.Print("\n  by confidence:")
			for b := range bins {
				fmt.Printf(" %.1f: %.3f of %d;", float64(b)/10, float64(binsRight[b])/float64(max(1, bins[b])), bins[b])
			}
			fmt.Println()
		}
	}
	measure("all candidates", Default(), langs)
	among, _ := Default().Among(langs...)
	measure("candidates of FLORES", among, langs)
	common := strings.Fields(lingua)
	among, _ = Default().Among(common...)
	measure("candidates of FLORES and lingua", among, common)
}

// prefix returns the first n characters of a text.
func prefix(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// firstWord returns the first word with 4 letters or more and no digits, without punctuation, or
// the first word.
func firstWord(lang, s string) string {
	if slices.Contains([]string{"ja", "zh", "th", "my"}, lang) {
		return prefix(s, 5)
	}
	for word := range strings.FieldsSeq(s) {
		word = strings.Trim(word, ".,;:!?\"()«»“”‘’„–—-।")
		if len([]rune(word)) >= 4 && !strings.ContainsFunc(word, unicode.IsDigit) {
			return word
		}
	}
	return strings.Fields(s)[0]
}
