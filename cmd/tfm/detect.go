package main

import (
	"bufio"
	"context"
	"fmt"
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
	return c.run
}

// languageDetector is the command with its flags.
type languageDetector struct {
	among string
	list  bool
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
		lang, confidence := d.Detect(l.Text)
		if _, err := fmt.Fprintf(w, "%s\t%.3f\n", lang, confidence); err != nil {
			return err
		}
	}
	return w.Flush()
}
