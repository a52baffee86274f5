package scoring

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"tfm/cmd/tfm/internal/cli"
)

// testSet is a test set by its name in sacreBLEU, which has downloaded it.
type testSet struct{ name, pair, dir string }

func (t *testSet) flags(f *cli.Flags) {
	f.StringVar(&t.name, "t", "", "`test set` in place of -ref, such as wmt17, from sacreBLEU's folder").Alias("test-set")
	f.StringVar(&t.pair, "l", "", "languages of -t, such as en-de").Alias("language-pair")
	f.StringVar(&t.dir, "data", "", "`folder` of the files of -t; default: $SACREBLEU, else ~/.sacrebleu")
}

// Named reports whether the references are a test set with a name.
func (o *Options) Named() bool { return o.testSet.name != "" }

// findTestSet sets the source and the references to the files of a test set with a name.
func (o *Options) findTestSet() (err error) {
	t := &o.testSet
	if !o.Named() {
		return cmp.Or(cli.UsageIf(t.pair != "", "-l needs -t"), cli.UsageIf(t.dir != "", "-data needs -t"))
	}
	err = cmp.Or(
		cli.UsageIf(len(o.References) > 0, "either -ref or -t"),
		cli.UsageIf(t.pair == "", "-t needs -l, the languages of the test set, such as -l en-de"),
		cli.UsageIf(!languagePair.MatchString(t.pair), "-l is %q, expected two languages such as en-de", t.pair),
	)
	if err == nil {
		o.Source, o.References, err = t.find()
	}
	return err
}

var (
	languagePair = regexp.MustCompile(`^\w+-\w+$`)
	references   = regexp.MustCompile(`/[A-D]+$`) // those that the name of a test set asks for
)

// find returns the files of the test set, in the first of these layouts that has a reference, for
// wmt17, en-de:
//
//	wmt17/wmt17.en-de.ref        sacreBLEU since 2.1, one reference
//	wmt17/wmt17.en-de.ref-0      several
//	wmt17/wmt17.en-de.ref-A      those of WMT21 and later, usually A
//	wmt17/wmt17.en-de.ref-refA
//	wmt17/en-de.de               sacreBLEU before 2.1, one reference
//	wmt17/en-de.de.0             several
//	wmt17.en-de.de               files without folders
//	newstest2017.en-de.de        with WMT's name
func (t *testSet) find() (source string, refs []string, err error) {
	dir := t.dir
	if dir == "" {
		home, _ := os.UserHomeDir()
		dir = cmp.Or(os.Getenv("SACREBLEU"), filepath.Join(home, ".sacrebleu"))
	}
	src, tgt, _ := strings.Cut(t.pair, "-")
	name := strings.ReplaceAll(t.name, "/", "_") + "." + t.pair + "."
	current, old := path.Join(t.name, name), path.Join(t.name, t.pair+".")
	news := strings.Replace(name, "wmt", "newstest20", 1)
	letters := "A"
	if asked := references.FindString(t.name); asked != "" {
		letters = asked[1:]
	} else if t.name == "wmt23" && (src == "he" || tgt == "he") {
		letters = "B"
	}
	layouts := []struct{ source, refs string }{
		{current + "src", current + "ref"},
		{current + "src", current + "ref-[0-9]"},
		{current + "src", current + "ref-[" + letters + "]"},
		{current + "src", current + "ref-ref[" + letters + "]"},
		{current + "src", current + "ref-B"},
		{current + "src", current + "ref-refB"},
		{old + src, old + tgt},
		{old + src, old + tgt + ".[0-9]"},
		{name + src, name + tgt},
		{news + src, news + tgt},
	}
	for _, l := range layouts {
		found, _ := fs.Glob(os.DirFS(dir), l.refs)
		for _, ref := range found {
			refs = append(refs, filepath.Join(dir, filepath.FromSlash(ref)))
		}
		if len(refs) > 0 {
			return filepath.Join(dir, filepath.FromSlash(l.source)), refs, nil
		}
	}
	return "", nil, fmt.Errorf("-t %s -l %s: found no %sref in %s, nor %s, nor %s; 'sacrebleu --download %[1]s -l %[2]s' gets it",
		t.name, t.pair, current, dir, old+tgt, name+tgt)
}
