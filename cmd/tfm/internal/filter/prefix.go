package filter

import (
	"fmt"
	"iter"
	"sync"
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/internal/format"
	"tfm/text"
	"tfm/translate"
)

// Prefixes are the flags that set the begin of translations.
type Prefixes struct {
	File   string // of prefixes
	prefix string
}

// PrefixFlags declares the flags of Prefixes.
func PrefixFlags(f *cli.Flags) *Prefixes {
	p := new(Prefixes)
	f.StringVar(&p.prefix, "prefix", "", "`text` with which every translation begins; it may end within a word")
	f.StringVar(&p.File, "prefix-file", "", "`file` with a -prefix for each line of the input, on the line with its number; empty is none")
	return p
}

// Apply sets the prefixes of o. The function that it returns closes -prefix-file and returns the
// error of reading it, also if it has fewer lines than the input.
func (p *Prefixes) Apply(o *translate.LineOptions) (close func() error, err error) {
	if o.Prefix = p.prefix; !utf8.ValidString(p.prefix) {
		return nil, cli.Usagef("-prefix is %q, expected valid UTF-8", p.prefix)
	}
	if p.File == "" {
		return func() error { return nil }, nil
	}
	if p.prefix != "" {
		return nil, cli.Usagef("either -prefix or -prefix-file")
	}
	file, err := text.OpenInput(p.File)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(text.RepairLines(file, text.InputName(p.File)))
	var mu sync.Mutex // after an error or a signal, PrefixOf may still run
	var failed error
	n, isClosed := 0, false
	o.PrefixOf = func(text.Line) string {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || isClosed {
			return ""
		}
		l, err, ok := next()
		if failed = err; !ok {
			failed = fmt.Errorf("%s: found %s, expected one for each line of the input", p.File, format.Count(n, "line"))
		}
		n++
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
