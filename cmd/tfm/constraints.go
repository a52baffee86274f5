package main

import (
	"bufio"
	"context"
	"io"
	"iter"
	"os"
	"sync"
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

// constraints are the flags that restrict translations, in addition to those in decode.Options.
type constraints struct {
	prefix string
	file   string
}

// constraintFlags declares the flags that restrict translations.
func constraintFlags(f *cli.Flags, o *decode.Options) *constraints {
	c := new(constraints)
	f.Group("Constraints")
	f.StringVar(&c.prefix, "prefix", "", "`text` with which every translation begins; it may end within a word")
	f.StringVar(&c.file, "prefix-file", "", "`file` with a -prefix for each line of the input, on the line with its number; empty is none")
	f.IntVar(&o.MinTokens, "min-tokens", 0, "least number of target tokens")
	f.IntVar(&o.MaxTokens, "max-tokens", 0, "limit of target tokens, in addition to -max-extra; 0 is none")
	f.Float64Var(&o.MinRatio, "min-ratio", 0, "least number of target tokens, divided by that of the source")
	f.Float64Var(&o.MaxRatio, "max-ratio", 0, "limit of target tokens, divided by the number of source tokens; 0 is none")
	f.IntVar(&o.NoRepeat, "no-repeat", 0, "no `N` consecutive tokens occur twice in a translation; 0 is off")
	f.Float64Var(&o.RepetitionPenalty, "repetition-penalty", 1, "divisor of the logits of tokens that occur in the translation; above 1 avoids them, 1 is off")
	return c
}

// apply sets the prefixes of o. close closes -prefix-file, and returns the error of reading it.
func (c *constraints) apply(o *translate.LineOptions) (close func() error, err error) {
	if o.Prefix = c.prefix; !utf8.ValidString(c.prefix) {
		return nil, cli.Usagef("-prefix %q: must be valid UTF-8", c.prefix)
	}
	if c.file == "" {
		return func() error { return nil }, nil
	}
	if c.prefix != "" {
		return nil, cli.Usagef("either -prefix or -prefix-file")
	}
	file, err := os.Open(c.file)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(text.RepairLines(file, c.file))
	var mu sync.Mutex // after an error or a signal, PrefixOf may still run
	var failed error
	isClosed := false
	o.PrefixOf = func(text.Line) string {
		mu.Lock()
		defer mu.Unlock()
		var l text.Line
		if failed == nil && !isClosed {
			l, failed, _ = next()
		}
		return l.Text
	}
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		isClosed = true
		stop()
		file.Close()
		return failed
	}, nil
}

// streamLines translates one line at a time and writes each translation while it is made.
func streamLines(ctx context.Context, out io.Writer, t *translate.Translator, lines iter.Seq2[text.Line, error], o translate.LineOptions, p prompt) error {
	w := bufio.NewWriter(out)
	var failed error // to write
	write := func(s string) {
		if _, err := w.WriteString(s); err == nil {
			failed = w.Flush()
		}
	}
	o.Certain = func(_ int, part string) { write(part) }
	p.show("> ")
	for l, err := range lines {
		if err != nil {
			return err
		}
		o.Texts = []string{l.Text}
		if o.PrefixOf != nil {
			o.Prefix, _ = text.OneLine(o.PrefixOf(l), nil)
		}
		results, err := t.Do(ctx, o.Request)
		if err != nil {
			return err
		}
		if write("\n"); failed != nil {
			return failed
		}
		for _, warning := range l.Warnings {
			o.Warn(warning)
		}
		if results[0].Truncated() {
			o.Warn(results[0].TruncationWarning(l))
		}
		if !text.IsBlank(l.Text) {
			o.Decode.First++
		}
		p.show("> ")
	}
	return nil
}

// checkStream reports the flags that -stream does not accept.
func checkStream(given map[string]string) error {
	for _, name := range []string{"tsv", "json", "nbest", "scores", "key", "progress", "batch"} {
		if _, ok := given[name]; ok {
			return cli.Usagef("either -stream or -%s", name)
		}
	}
	return nil
}
