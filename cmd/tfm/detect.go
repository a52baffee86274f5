package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/translator"
	"tfm/text"
	"tfm/text/detect"
)

func detectCommand(f *cli.Flags) cli.Action {
	var c languageDetector
	f.StringVar(&c.among, "among", "", "candidates, `languages` separated by commas, such as en,de,pt-BR; default all of 'tfm detect -list'")
	f.BoolVar(&c.list, "list", false, "print the languages that can be detected")
	f.Group("Output")
	f.IntVar(&c.n, "n", 1, "print the N most probable languages of each line").Range(1, 100)
	f.BoolVar(&c.sentences, "by-sentence", false, "print the language of each sentence of a line, and the sentence")
	f.BoolVar(&c.json, "json", false, "print a JSON object for each line")
	return c.run
}

// languageDetector is the command with its flags.
type languageDetector struct {
	among           string
	n               int
	list, sentences bool
	json            bool
}

func (c *languageDetector) run(_ context.Context, args []string) error {
	err := cmp.Or(
		cli.UsageIf(c.sentences && c.n > 1, "-by-sentence excludes -n"),
		cli.UsageIf(c.list && len(args) > 0, "-list excludes files"),
	)
	if err != nil {
		return err
	}
	d := detect.Default()
	if c.among != "" {
		var unknown []string
		if d, unknown = d.Among(strings.Split(c.among, ",")...); len(unknown) > 0 {
			return cli.Usagef("-among: found %q, expected languages that 'tfm detect -list' prints", strings.Join(unknown, ","))
		}
	}
	if c.list {
		_, err := fmt.Println(strings.Join(d.Languages(), "\n"))
		return err
	}
	files, err := translator.Inputs(args)
	if err != nil {
		return err
	}
	if files[0] == text.Stdin && terminal.IsTerminal(os.Stdin) {
		fmt.Fprintln(os.Stderr, "Reading text from the terminal, a line each; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
	}
	w := bufio.NewWriter(os.Stdout)
	for l, err := range translator.Lines(files, text.RepairLines) {
		if err != nil {
			w.Flush()
			return err
		}
		if err := c.write(w, d, l.Number, l.Text); err != nil {
			return err
		}
	}
	return w.Flush()
}

// detected is a language as an object of JSON.
type detected struct {
	Lang       string  `json:"lang"`
	Confidence float64 `json:"confidence"`
	Text       string  `json:"text,omitempty"` // of a sentence
}

// answer is the object of a line.
type answer struct {
	detected
	Candidates []detected `json:"candidates,omitempty"` // of -n
	Sentences  []detected `json:"sentences,omitempty"`
}

// write writes the languages of a line.
func (c *languageDetector) write(w io.Writer, d *detect.Detector, number int, line string) error {
	object := func(x detect.Candidate, text string) detected {
		const decimals = 1e3
		return detected{x.Lang, math.Round(x.Confidence*decimals) / decimals, text}
	}
	var a answer
	lang, confidence := d.Detect(line)
	a.detected = object(detect.Candidate{Lang: lang, Confidence: confidence}, "")
	if c.n > 1 {
		candidates := d.Candidates(line)
		for _, x := range candidates[:min(c.n, len(candidates))] {
			a.Candidates = append(a.Candidates, object(x, ""))
		}
	}
	if c.sentences {
		for _, x := range d.Sentences(line) {
			a.Sentences = append(a.Sentences, object(x.Candidate, line[x.Start:x.End]))
		}
	}
	if c.json {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(a)
	}
	if c.sentences {
		for _, x := range a.Sentences {
			if _, err := fmt.Fprintf(w, "%d\t%s\t%.3f\t%s\n", number, x.Lang, x.Confidence, x.Text); err != nil {
				return err
			}
		}
		return nil
	}
	columns := fmt.Sprintf("%s\t%.3f", a.Lang, a.Confidence)
	for _, x := range a.Candidates[min(1, len(a.Candidates)):] {
		columns += fmt.Sprintf("\t%s\t%.3f", x.Lang, x.Confidence)
	}
	_, err := fmt.Fprintln(w, columns)
	return err
}
