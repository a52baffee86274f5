package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text/tokenizer/sentencepiece"
)

// checkFuzzed checks the result of a reader: an error of one line, or a model that translates.
func checkFuzzed(t *testing.T, f model.File, err error) {
	t.Helper()
	if err != nil {
		if s := err.Error(); strings.Contains(strings.TrimSpace(s), "\n") || len(s) > 2000 {
			t.Errorf("error %q", s)
		}
		return
	}
	v := tokenizersOf(t, f)
	src := v.Source.Encode(nil, "ta gi")
	if len(src) < f.Model.Config.MaxLen {
		decode.New(decode.NewWeights(f.Model, nil), nil).Next(src, nil)
	}
}

// FuzzReadMarian reads archives and settings of a decoder.
func FuzzReadMarian(f *testing.F) {
	path := marianFolder(f, func(v int) map[string]npzArray { return marianArrays(v, marianShape) })
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, []byte("vocabs:\n  - vocab.spm\n  - vocab.spm\nnormalize: 1\n"))
	f.Add(npzBytes(f, map[string]npzArray{marianConfigName: {[]int{len(marianShape)}, []byte(marianShape)}}), []byte("normalize: x"))
	f.Fuzz(func(t *testing.T, data, decoder []byte) {
		for name, data := range map[string][]byte{path: data, path + ".decoder.yml": decoder} {
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		file, err := ReadMarian(path)
		checkFuzzed(t, file, err)
	})
}

// FuzzPreprocessRules reads scripts. The rules are valid.
func FuzzPreprocessRules(f *testing.F) {
	f.Add("sed -e 's/。 */. /g' \\\n    -e \"s/’/\\'/g\" |\nperl -C -pe 's/\\p{C}/ /g;' |\nsed 's/  */ /g;s/^ *//g;s/ *$$//g' |\n${SPMENCODE} --model $2", "de")
	f.Add("if [ $4 == \"noflags\" ]; then\n${TOKENIZER}/replace-unicode-punctuation.perl |\nelse\n${TOKENIZER}/normalize-punctuation.perl -l $1 |\nfi", "en")
	f.Fuzz(func(t *testing.T, script, language string) {
		rules, err := readPreprocess(scriptFolder(script), language)
		if err != nil {
			return
		}
		spec := sentencepiece.NewNormalizerSpec()
		spec.Rewrites = rules
		n, err := sentencepiece.NewNormalizer(&spec)
		if len(rules) <= 1000 && len(script) < 1000 && err != nil {
			t.Fatalf("%q: %v", script, err)
		}
		if err == nil {
			n.Append(nil, script[:min(len(script), 100)])
		}
	})
}

// FuzzReadMarianHF reads folders of transformers.
func FuzzReadMarianHF(f *testing.F) {
	dir := f.TempDir()
	names := []string{hfConfigFile, hfGenerationFile, hfVocabFile, tokenizerConfigFile, hfModelFile, hfSourceFile}
	for _, folder := range []string{"marian-half", "marian-codes"} {
		var files [][]byte
		for _, name := range append(names, hfTargetFile) {
			data, err := os.ReadFile(filepath.Join("testdata", folder, name))
			if err != nil {
				f.Fatal(err)
			}
			files = append(files, data)
		}
		f.Add(files[0], files[1], files[2], files[3], files[4], files[5])
		if err := os.WriteFile(filepath.Join(dir, hfTargetFile), files[6], 0o666); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, config, generation, vocab, tokenizer, weights, spm []byte) {
		for i, data := range [][]byte{config, generation, vocab, tokenizer, weights, spm} {
			if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		file, err := ReadMarianHF(dir)
		checkFuzzed(t, file, err)
	})
}
