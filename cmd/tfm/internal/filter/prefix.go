package filter

import (
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/translate"
)

// Prefix is the flag that sets the begin of translations.
type Prefix struct{ text string }

// PrefixFlag declares the flag of Prefix.
func PrefixFlag(f *cli.Flags) *Prefix {
	p := new(Prefix)
	f.StringVar(&p.text, "prefix", "", "`text` with which every translation begins; it may end within a word")
	return p
}

// Apply sets the prefix of o.
func (p *Prefix) Apply(o *translate.LineOptions) error {
	o.Prefix = p.text
	return cli.UsageIf(!utf8.ValidString(p.text), "-prefix is %q, expected valid UTF-8", p.text)
}
