// Command languages makes the profiles of package detect from texts. From the same texts it makes
// the same file on one machine:
//
//	cd tools && go run ./languages TEXTS ../text/detect/profiles.bin
//
// The folder TEXTS has a folder of each language in tags.txt, by its tag, with files of clean lines
// in UTF-8, one of each kind of text. Their names are NAME_WEIGHT.txt: one with WEIGHT 2 is drawn
// from twice as often as one with 1.
//
//	main.go   the texts, and the stages of the training
//	train.go  the training, by stochastic gradient descent, and what becomes of it in the file
package main

import (
	_ "embed"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tfm/internal/hash"
	"tfm/text"
	"tfm/text/detect/profile"
)

// tags has a line of each script that several languages have, in the order of the profiles.
//
//go:embed tags.txt
var tags string

// language is a language with its texts.
type language struct {
	tag     string
	script  profile.Script
	sources []source
	weight  float64 // of all sources
}

// source is the lines of a file, in two sets.
type source struct {
	weight float64
	lines  [2][]string
}

const training, heldOut = 0, 1 // sets of lines

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: languages TEXTS OUTPUT")
	}
	check(os.WriteFile(os.Args[2], build(readTexts(os.Args[1]), 2_000_000).Encode(), 0o666))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func readTexts(dir string) (languages []language) {
	for script, list := range strings.Split(strings.TrimSpace(tags), "\n") {
		for tag := range strings.FieldsSeq(list) {
			l := language{tag: tag, script: profile.Script(script)}
			paths, err := filepath.Glob(filepath.Join(dir, tag, "*.txt"))
			check(err)
			seen, n := map[uint64]bool{}, 0
			for _, path := range paths {
				s := readSource(path, seen)
				n += len(s.lines[heldOut])
				l.sources, l.weight = append(l.sources, s), l.weight+s.weight
			}
			if n == 0 {
				log.Fatalf("%s: found no text or too few lines", filepath.Join(dir, tag))
			}
			languages = append(languages, l)
		}
	}
	return languages
}

// readSource reads the lines of a file that are not seen. One in 20 is held out. Files of less than
// 50 kB are drawn from less often.
func readSource(path string, seen map[uint64]bool) (s source) {
	_, name, _ := strings.Cut(filepath.Base(path), "_")
	weight, err := strconv.ParseFloat(strings.TrimSuffix(name, ".txt"), 64)
	check(err)
	size := 0
	for line, err := range text.Lines(path) {
		check(err)
		h, _ := hash.Text(line)
		if seen[h] {
			continue
		}
		seen[h] = true
		set := training
		if h%20 == 0 {
			set = heldOut
		} else {
			size += len(line)
		}
		s.lines[set] = append(s.lines[set], line)
	}
	s.weight = weight * min(1, float64(size)/50e3)
	return s
}

// build trains twice, the second time from the rounded result of the first. The first training has
// all frequent n-grams, selects the most important ones twice and trains on.
func build(languages []language, samples int) *profile.Model {
	const minCount = 6 // of an n-gram
	const rate, furtherRate = 0.1, 0.06
	t := newTrainer(languages)
	counts := t.selectFrequent(samples/2, minCount)
	t.train(samples, rate)
	t.report()
	t.knows = true
	for _, n := range []int{240_000, 60_000} { // n-grams, those of the file last
		t.selectImportant(counts, n)
		t.train(samples/2, rate/2)
		t.report()
	}
	first := t.round(samples/8, rate/4)

	t = newTrainer(languages)
	t.load(first)
	t.train(samples/12, 0) // only shows the sizes of the gradients
	for i := range 2 {
		t.train(samples/2, furtherRate/float64(1+i))
		t.report()
	}
	m := t.round(samples/8, rate/4)
	t.calibrate(m)
	return m
}
