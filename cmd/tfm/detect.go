package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	f.BoolVar(&c.sentences, "by-sentence", false, "print the language of each sentence of a line, and the sentence")
	return c.run
}

// languageDetector is the command with its flags.
type languageDetector struct {
	among           string
	list, sentences bool
}

func (c *languageDetector) run(_ context.Context, args []string) error {
	if c.list && len(args) > 0 {
		return cli.Usagef("-list excludes files")
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

// write writes the language of a line, or those of its sentences.
func (c *languageDetector) write(w io.Writer, d *detect.Detector, number int, line string) (err error) {
	if !c.sentences {
		lang, confidence := d.Detect(line)
		_, err = fmt.Fprintf(w, "%s\t%.3f\n", lang, confidence)
		return err
	}
	for _, x := range d.Sentences(line) {
		if _, err = fmt.Fprintf(w, "%d\t%s\t%.3f\t%s\n", number, x.Lang, x.Confidence, line[x.Start:x.End]); err != nil {
			return err
		}
	}
	return nil
}
