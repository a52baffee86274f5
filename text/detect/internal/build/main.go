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

	"tfm/text/detect/internal/profile"
)

func main() {
	var o options
	flag.StringVar(&o.texts, "texts", "", "`folder` of collect.sh")
	flag.StringVar(&o.init, "init", "", "`file` of profiles to train further")
	flag.StringVar(&o.out, "o", "profiles.bin", "`file` to write")
	flag.IntVar(&o.samples, "samples", 2_000_000, "samples of the first training")
	flag.Parse()
	if err := build(o); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

type options struct {
	texts, init, out string
	samples          int
}

const (
	minCount    = 6      // of an n-gram in the first training
	wideGrams   = 240000 // n-grams after the first selection
	grams       = 60000  // of the file
	steps       = 0.63   // of the integers, in standard deviations
	rate        = 0.1    // of the first training
	furtherRate = 0.06   // of a training with -init
)

// build trains, rounds the vectors and trains the weights of the languages again.
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
	if o.init == "" {
		train(t, o.samples, step)
	} else if err := trainFurther(t, o.init, o.samples, step); err != nil {
		return fmt.Errorf("%s: %w", o.init, err)
	}
	m := t.round(steps)
	t.frozen = true
	t.train(o.samples/8, rate/4)
	t.finish(m)
	file := m.Encode()
	step("%d bytes: held out %s; left out %d samples", len(file), t.accuracy(), t.leftOut)
	return os.WriteFile(o.out, file, 0o666)
}

// train trains with all frequent n-grams, and twice selects the most important ones and trains on.
func train(t *trainer, samples int, step func(format string, a ...any)) {
	counts := t.count(samples / 2)
	t.selectFrequent(counts, minCount)
	t.train(samples, rate)
	step("trained %d n-grams: held out %s", len(t.e), t.accuracy())
	t.knows = true
	for _, n := range []int{wideGrams, grams} {
		t.selectImportant(counts, n)
		t.train(samples/2, rate/2)
		step("trained %d n-grams: held out %s", len(t.e), t.accuracy())
	}
}

// trainFurther trains the profiles of a file, after samples that only show the sizes of their
// gradients.
func trainFurther(t *trainer, init string, samples int, step func(format string, a ...any)) error {
	file, err := os.ReadFile(init)
	if err != nil {
		return err
	}
	m, err := profile.Decode(file)
	if err != nil {
		return err
	}
	if err := t.load(m); err != nil {
		return err
	}
	t.knows, t.warming = true, true
	t.train(samples/12, 0)
	t.warming = false
	for i := range 2 {
		t.train(samples/2, furtherRate/float64(1+i))
		step("trained %d n-grams: held out %s", len(t.e), t.accuracy())
	}
	return nil
}
