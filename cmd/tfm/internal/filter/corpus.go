package filter

import (
	"cmp"
	"fmt"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/text"
)

// Corpus is the files of the pairs that a command reads.
type Corpus struct {
	src, tgt, tsv, srcLang, tgtLang string

	languages [2]string // that a translation memory had
}

// CorpusFlags declares the flags of a Corpus.
func CorpusFlags(f *cli.Flags) *Corpus {
	c := new(Corpus)
	f.StringVar(&c.src, "src", "", "`file` of sources, one a line")
	f.StringVar(&c.tgt, "tgt", "", "`file` of their translations")
	f.StringVar(&c.tsv, "tsv", "", "`file` of pairs, separated by a tab, or translation memory (TMX), in place of -src and -tgt")
	f.StringVar(&c.srcLang, "src-lang", "", "source `language` of a translation memory; default that of its header, or of its first unit")
	f.StringVar(&c.tgtLang, "tgt-lang", "", "target `language` of a translation memory, which one of more than two needs")
	return c
}

// OutputFlags declares the flags of the folder and the file to which a command writes pairs.
func OutputFlags(f *cli.Flags, out, dropped *string) {
	f.StringVar(out, "o", "", "`folder` to write the kept pairs to")
	f.StringVar(dropped, "dropped", "", "`file` to write the other pairs to, with the reasons, .gz too")
}

// Check reports missing or conflicting flags.
func (c *Corpus) Check() error {
	return cmp.Or(
		cli.UsageIf(c.src == text.Stdin && c.tgt == text.Stdin, "either -src or -tgt can be standard input"),
		cli.UsageIf(c.tsv != "" && (c.src != "" || c.tgt != ""), "either -src and -tgt, or -tsv"),
		cli.UsageIf(c.tsv == "" && (c.src == "" || c.tgt == ""), "-src and -tgt are needed, or -tsv"),
	)
}

// CheckFiles reports a file that cannot be read more than once.
func (c *Corpus) CheckFiles() error {
	for _, name := range c.Files().Paths() {
		if name == text.Stdin {
			return cli.Usagef("standard input can be read once, and the pairs are read several times: write them to a file")
		}
		if info, err := os.Stat(name); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file, and the pairs are read several times", name)
		}
	}
	return nil
}

// PrintLanguages prints the languages that a translation memory had, if the flags do not name them.
func (c *Corpus) PrintLanguages(screen *terminal.Progress) {
	if l := c.languages; l[0] != "" && (c.srcLang == "" || c.tgtLang == "") {
		screen.Text("languages: %s to %s, as %s has them (-src-lang, -tgt-lang)", l[0], l[1], c.tsv)
	}
}

// Files returns the files.
func (c *Corpus) Files() text.Files {
	if c.tsv != "" {
		return text.Files{Source: c.tsv, SrcLang: c.srcLang, TgtLang: c.tgtLang, Languages: &c.languages}
	}
	return text.Files{Source: c.src, Target: c.tgt}
}
