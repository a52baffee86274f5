package marian

import (
	"os"
	"testing"

	"tfm/model/convert/internal/parttest"
	"tfm/text/tokenizer/sentencepiece"
)

// FuzzReadMarian reads archives and settings of a decoder.
func FuzzReadMarian(f *testing.F) {
	path := marianFolder(f, func(v int) map[string]npzArray { return marianArrays(v, marianShape) })
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, []byte("vocabs:\n  - vocab.spm\n  - vocab.spm\nnormalize: 1\n"))
	f.Add(npzBytes(f, map[string]npzArray{configName: {[]int{len(marianShape)}, []byte(marianShape)}}), []byte("normalize: x"))
	f.Fuzz(func(t *testing.T, data, decoder []byte) {
		for name, data := range map[string][]byte{path: data, path + ".decoder.yml": decoder} {
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		file, err := Read(path)
		parttest.CheckFuzzed(t, file, err)
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
