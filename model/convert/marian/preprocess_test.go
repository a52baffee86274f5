package marian

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/text/tokenizer/moses"
)

// scriptFolder returns a folder with a preprocess.sh of lines.
func scriptFolder(lines ...string) parts.Folder {
	read := func() ([]byte, error) { return []byte("#!/bin/bash\n\n" + strings.Join(lines, "\n") + "\n"), nil }
	return parts.Folder{Path: "x", Files: map[string]func() ([]byte, error){preprocessFile: read}}
}

// The commands of OPUS-MT's scripts become rules.
func TestPreprocessRules(t *testing.T) {
	const encode = "${SPMENCODE} --model $2"
	wide, _ := moses.ScriptRules("replace-unicode-punctuation", "")
	punctuation, _ := moses.ScriptRules("normalize-punctuation", "de")
	control, _ := moses.ScriptRules("remove-non-printing-char", "")
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"sed": {[]string{"sed -e 's/。 */. /g' \\", "    -e 's/？/\\?/g' \\", "    -e \"s/’/\\'/g\" |", "sed 's/  */ /g;s/^ *//g;s/ *$//g' |", encode},
			[]string{"。 *\t. ", "？\t?", "’\t'", "  *\t ", "^ +\t", " +$\t"}},
		"dollar":       {[]string{`sed 's/ *$$//g' |`, encode}, []string{` *\$$` + "\t"}},
		"perl":         {[]string{`perl -C -pe  's/(?!\n)\p{C}/ /g;' |`, `perl -CIOE -pe 's/[\x{2060}\x{200B}\x{feff}]//g' |\`, encode}, []string{control[0], `[\x{2060}\x{200B}\x{feff}]` + "\t"}},
		"several ends": {[]string{"if [ \"$4\" == \"noflags\" ]; then", "sed 's/a/b/g' |", "else", "sed 's/a/c/g' |", encode + " |", `sed "s/^/>>$2<< /"`, "fi"}, []string{"a\tc"}},
		"hosts":        {[]string{"if [ `hostname -d` == \"bullx\" ]; then", "  MOSESHOME=/x", "fi", "${TOKENIZER}/remove-non-printing-char.perl |", encode, "# end"}, []string{control[0]}},
		"Moses":        {[]string{"${TOKENIZER}/replace-unicode-punctuation.perl |", "${TOKENIZER}/normalize-punctuation.perl -l $1 |", encode}, slices.Concat(wide, punctuation)},
	} {
		if got, err := readPreprocess(scriptFolder(c.lines...), "de"); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, %v, want %q", name, got, err, c.want)
		}
	}
	for line, want := range map[string]string{
		"${TOKENIZER}/tokenizer.perl -a -l $1 |":       "x/preprocess.sh:3: found",
		"python3 ${SNMTPATH}/apply_bpe.py -c $2":       "found",
		"sed 's/a*/x/g' |":                             "found",
		"tr a-z A-Z |":                                 `x/preprocess.sh:3: found "tr a-z A-Z"`,
		"sed 's/[ab]/c/g' |":                           "found",
		"sed 's/a/\xff/g' |":                           "found",
		"sed 's/a*b*/c/g' |":                           "found",
		"sed 's/a/b/' |":                               "found",
		`sed 's/a/\n/g' |`:                             "found",
		"sed 's/a/&&/g' |":                             "found",
		`sed "s/$1/b/g" |`:                             "found",
		"LC_ALL=C sed 's/a/b/g' |":                     "found",
		`perl -C -pe 's/a/b/g' |`:                      "found",
		"${TOKENIZER}/lowercase.perl |":                "found",
		encode + " |\nsed 's/a/b/g'":                   "x/preprocess.sh:4: found",
		"if [ -e $1 ]; then":                           "found",
		"${TOKENIZER}/escape-special-chars.perl -l $1": "found",
	} {
		_, err := readPreprocess(scriptFolder(line), "")
		parttest.CheckError(t, line, err, want)
	}
}

// releaseFiles returns the files of a release of OPUS-MT: tokens in YAML, or in lines for each
// side.
func releaseFiles(t *testing.T, lines bool) map[string][]byte {
	t.Helper()
	const size = 60 // rows, two more than tokens
	base := "opus+bt.spm32k-spm32k"
	name := base + ".transformer-align.model1.npz.best-perplexity.npz"
	dir := testFolder(t, filepath.Join("../testdata", "marian-separate"))
	spm, err := parts.ReadSentencePiece(dir, "source.spm")
	if err != nil {
		t.Fatal(err)
	}
	data, _ := spm.MarshalBinary()
	tokens := []string{"</s>", "<unk>", ">>deu<<", ">>fra<<"}
	for i := 3; len(tokens) < size-2; i++ {
		tokens = append(tokens, spm.Model().Pieces[i].Text)
	}
	files := map[string][]byte{
		name:                                   npzBytes(t, marianArrays(size, marianShape)),
		"source.spm":                           data,
		"target.spm":                           data,
		"README.md":                            []byte("# opus+bt-2021-03-02.zip\n\n* dataset: opus+bt\n* source language(s): zh\n* target language(s): deu fra\n"),
		"LICENSE":                              []byte("CC BY 4.0\n"),
		"source.tcmodel":                       {},
		base + ".yml":                          []byte("release: zh-de/x.zip\nsubwords:\n   source: spm32k\n"),
		preprocessFile:                         []byte("sed -e 's/。 */. /g' |\n${SPMENCODE} --model $2\n"),
		"postprocess.sh":                       []byte("sed 's/ //g;s/▁/ /g;s/^ *//'\n"),
		base + ".transformer-align.train1.log": []byte("[2021-03-02 01:02:03] [config] label-smoothing: 0.1\n[2021-03-02 01:02:03] [config] transformer-dropout: 0.25\nEp. 1\n"),
	}
	vocabs := [2]string{base + ".vocab.yml", base + ".vocab.yml"}
	if lines {
		vocabs = [2]string{base + ".src.vocab", base + ".trg.vocab"}
		files[vocabs[0]], files[vocabs[1]] = []byte(strings.Join(tokens, "\n")+"\n"), []byte(strings.Join(tokens, "\n")+"\n")
	} else {
		for i, token := range tokens {
			files[vocabs[0]] = fmt.Appendf(files[vocabs[0]], "%q: %d\n", token, i)
		}
	}
	files[decoderFile] = fmt.Appendf(nil, "relative-paths: true\nmodels:\n  - %s\nvocabs:\n  - %s\n  - %s\nbeam-size: 4\nnormalize: 1\nword-penalty: 0\n", name, vocabs[0], vocabs[1])
	return files
}

// A release of OPUS-MT is read from its zip archive and from the folder that it was unpacked to.
func TestReleaseOfOPUS(t *testing.T) {
	for _, lines := range []bool{false, true} {
		files := releaseFiles(t, lines)
		dir := t.TempDir()
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var models [][]byte
		upper := filepath.Join(t.TempDir(), "X.ZIP")
		if err := os.Rename(writeRelease(t, "", files), upper); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, writeRelease(t, "", files), writeRelease(t, "models/zh-de/", files), upper} {
			if !Is(path, path == dir) {
				t.Errorf("%s: found no model of Marian", path)
			}
			f, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			c := f.Model.Config
			if f.SrcLang != "zh" || f.TgtLang != "" || parttest.SettingsOf(t, f).Beam != 4 || parttest.SettingsOf(t, f).Alpha != 1 || c.Dropout != 0.25 || c.LabelSmoothing != 0.1 || c.Tie != model.TieAll && !lines {
				t.Errorf("found %s to %q, %+v, %+v", f.SrcLang, f.TgtLang, f.Decoding, c)
			}
			v := parttest.TokenizersOf(t, f)
			if a, b := v.Source.Encode(nil, "be。  gi"), v.Source.Encode(nil, "be. gi"); !slices.Equal(a, b) || slices.Equal(v.Target.Encode(nil, "be。gi"), b) {
				t.Errorf("found ids %v, want %v", a, b)
			}
			_, err = parts.NamesOf(v.Source)
			parttest.CheckError(t, "export", err, "found 1 rules for text before SentencePiece")
			out := filepath.Join(t.TempDir(), "m")
			if err := f.Save(out); err != nil {
				t.Fatal(err)
			}
			data, _ := os.ReadFile(out)
			models = append(models, data)
		}
		for _, other := range models {
			if !bytes.Equal(models[0], other) {
				t.Errorf("the zip archives and the folder differ")
			}
		}
	}
	files := releaseFiles(t, false)
	files["other.npz"] = files[decoderFile]
	if _, err := Read(writeRelease(t, "", files)); err == nil {
		t.Errorf("two models in an archive: no error")
	}
	files = releaseFiles(t, false)
	for name, data := range files {
		if isNpz(name) {
			delete(files, name)
			files["model.npz"] = data
		}
	}
	_, err := Read(writeRelease(t, "", files))
	parttest.CheckError(t, "another model", err, `found no "opus+bt.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz", expected the model that the decoder.yml names`)
}

// writeRelease writes an archive.
func writeRelease(t *testing.T, prefix string, files map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("__MACOSX/" + prefix + "._model.npz"); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		w, err := z.Create(prefix + name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "opus+bt-2021-03-02.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
