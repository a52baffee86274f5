// Command build makes the profiles of package detect from the texts that collect.sh gathers. On one
// machine it always makes the same file.
//
//	main.go       the steps
//	texts.go      the lines of the files by language
//	languages.go  the languages and the names that their folders have
//	train.go      the weights
//	finish.go     integers, slopes, held-out accuracy
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.texts, "texts", "", "`folder` of collect.sh")
	flag.StringVar(&o.out, "o", "profiles.bin", "`file` to write")
	flag.IntVar(&o.samples, "samples", 3_000_000, "samples of the first training")
	flag.Parse()
	if err := build(o); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

type options struct {
	texts, out string
	samples    int
}

const (
	minCount  = 6      // of an n-gram in the first training
	wideGrams = 240000 // n-grams after the first selection
	grams     = 60000  // of the file
	steps     = 0.5    // of the integers, in standard deviations
	rate      = 0.1    // of the first training
)

// build trains with all frequent n-grams, twice selects the most important ones and trains on,
// rounds the vectors and trains the weights of the languages again.
func build(o options) error {
	start := time.Now()
	step := func(format string, a ...any) {
		fmt.Fprintf(os.Stderr, "%6.0f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, a...))
	}
	languages := listLanguages()
	sources, err := readTexts(o.texts, languages)
	if err != nil {
		return err
	}
	step("read the texts of %d languages", len(languages))
	t := newTrainer(languages, sources)
	counts := t.count(o.samples / 2)
	t.selectFrequent(counts, minCount)
	t.train(o.samples, rate)
	step("trained %d n-grams: held out %s", len(t.e), t.accuracy())
	t.knows = true
	for _, n := range []int{wideGrams, grams} {
		t.selectImportant(counts, n)
		t.train(o.samples/2, rate/2)
		step("trained %d n-grams: held out %s", len(t.e), t.accuracy())
	}
	m := t.round(steps)
	t.frozen = true
	t.train(o.samples/4, rate/4)
	t.finish(m)
	file := m.Encode()
	step("%d bytes: held out %s; left out %d samples", len(file), t.accuracy(), t.leftOut)
	return os.WriteFile(o.out, file, 0o666)
}
