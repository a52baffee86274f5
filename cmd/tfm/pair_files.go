package main

import (
	"iter"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
)

// pairFiles are the flags of a command that reads a corpus of pairs.
type pairFiles struct{ src, tgt, tsv string }

func pairFileFlags(f *cli.Flags) *pairFiles {
	p := new(pairFiles)
	f.StringVar(&p.src, "src", "", "`file` of sources, one a line")
	f.StringVar(&p.tgt, "tgt", "", "`file` of their translations")
	f.StringVar(&p.tsv, "tsv", "", "`file` of pairs, separated by a tab, in place of -src and -tgt")
	return p
}

// check reports missing or conflicting flags.
func (p *pairFiles) check() error {
	switch {
	case p.tsv != "" && (p.src != "" || p.tgt != ""):
		return cli.Usagef("either -src and -tgt, or -tsv")
	case p.tsv == "" && (p.src == "" || p.tgt == ""):
		return cli.Usagef("-src and -tgt are needed, or -tsv")
	}
	return nil
}

// files returns the files.
func (p *pairFiles) files() []string {
	if p.tsv != "" {
		return []string{p.tsv}
	}
	return []string{p.src, p.tgt}
}

// pairs reads the files each time that it is iterated.
func (p *pairFiles) pairs() iter.Seq2[text.Pair, error] {
	if p.tsv != "" {
		return text.PairsTSV(p.tsv)
	}
	return text.Pairs(p.src, p.tgt)
}
