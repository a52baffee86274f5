package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/text/tokenizer/sentencepiece"

	"tfm/internal/texttest"
)

func TestVocab(t *testing.T) {
	src, tgt := toyCorpus(t)
	path := filepath.Join(t.TempDir(), "toy.bpe")
	mustHave(t, mustRun(t, "", "vocab", "-o", path, "-vocab-size", "300", src, tgt).stderr, "300 pieces from 2,974 lines")
	text := "the red dog  sees\tthe 日本\n\n ça\n"
	ids := mustRun(t, text, "vocab", "-vocab", path, "-encode").stdout
	if back := mustRun(t, ids, "vocab", "-vocab", path, "-decode").stdout; back != text {
		t.Errorf("%q decodes to %q", text, back)
	}
	if o := mustRun(t, "the dog", "vocab", "-vocab", path, "-pieces"); !strings.HasPrefix(o.stdout, "▁the ") {
		t.Errorf("-pieces printed %s", o.stdout)
	}
	if o := mustRun(t, "", "vocab", "-vocab", path, "-show"); strings.Count(o.stdout, "\n") != 300 || !strings.HasPrefix(o.stdout, "0\t<pad>\n1\t<s>\n2\t</s>\n") {
		t.Errorf("-show printed %s", o.stdout)
	}
	// -encode repairs lines, -decode rejects damaged ones.
	damaged, repaired := "the red\xff dog\n"+strings.Repeat("a", 1<<20+1)+"\n\n", "the red\uFFFD dog\n"+strings.Repeat("a", 1<<20)+"\n\n"
	o := mustRun(t, damaged, "vocab", "-vocab", path, "-encode")
	if want := mustRun(t, repaired, "vocab", "-vocab", path, "-encode").stdout; o.stdout != want {
		t.Errorf("-encode of a damaged text printed %.200q, want %.200q", o.stdout, want)
	}
	mustHave(t, o.stderr, "tfm: standard input:1: invalid UTF-8 at byte 8, replaced by U+FFFD\n", "tfm: standard input:2: line of 1048577 bytes truncated to 1048576\n")
	mustFail(t, runTFM(t, damaged, "vocab", "-vocab", path, "-decode"), 1, "standard input:1: invalid UTF-8")
	mustFail(t, runTFM(t, "3 4 300\n", "vocab", "-vocab", path, "-decode"), 1, "standard input:1", `"300"`, "0 to 299")

	args, m := trainArgs(t, "-vocab", path, "-steps", "2")
	mustRun(t, "", args...)
	if again := mustRun(t, text, "vocab", "-vocab", m, "-encode").stdout; again != ids {
		t.Error("a model has another tokenizer than -vocab of its training")
	}
}

// A .model file has the ids of spm_encode, also within a model of tfm.
func TestVocabSentencepiece(t *testing.T) {
	m := sentencepiece.NewModel()
	m.Trainer.ModelType = sentencepiece.BPE
	m.Pieces = []sentencepiece.Piece{{Text: "<unk>", Type: sentencepiece.Unknown}}
	for i, s := range strings.Fields("▁t he ▁the ▁ t h e d o g r do dog re red s") {
		m.Pieces = append(m.Pieces, sentencepiece.Piece{Text: s, Score: float32(-i), Type: sentencepiece.Normal})
	}
	data, err := m.MarshalBinary()
	noError(t, err)
	path := filepath.Join(t.TempDir(), "toy.model")
	noError(t, os.WriteFile(path, data, 0o666))
	const (
		text  = "the red dog\n\nthe\xff\xfe dogs\r\n"
		ids   = "3 4 15 4 13\n\n3 0 4 13 16 0\n"
		plain = "the red dog\n\nthe ⁇  dogs ⁇ \n"
	)
	args, model := trainArgs(t, "-vocab", path, "-steps", "2")
	mustRun(t, "", args...)
	for _, vocab := range []string{path, model} {
		if got := mustRun(t, text, "vocab", "-vocab", vocab, "-encode"); got.stdout != ids || got.stderr != "" {
			t.Errorf("-encode printed %q and %q, want %q", got.stdout, got.stderr, ids)
		}
		if got := mustRun(t, ids, "vocab", "-vocab", vocab, "-decode").stdout; got != plain {
			t.Errorf("-decode printed %q, want %q", got, plain)
		}
	}
}

// Files of subword-nmt are applied, and train a model.
func TestVocabSubword(t *testing.T) {
	codes := write(t, "codes", "#version: 0.2\nt h\nth e</w>\ne d</w>\nr ed</w>\nc h\n")
	var vocabulary strings.Builder
	for _, piece := range strings.Fields("the ed red ch@@ th@@") {
		vocabulary.WriteString(piece + " 2000\n")
	}
	for c := 'a'; c <= 'z'; c++ {
		fmt.Fprintf(&vocabulary, "%c 500\n%c@@ 500\n", c, c)
	}
	both := codes + "," + write(t, "vocabulary", vocabulary.String())
	pieces := mustRun(t, "the red dog sees zebras\n\n", "vocab", "-vocab", both, "-pieces").stdout
	if got := strings.ReplaceAll(pieces, "@@ ", ""); got != "the red dog sees zebras\n\n" || got == pieces {
		t.Errorf("-pieces printed %q, want the words with joints", pieces)
	}
	ids := mustRun(t, "the red dog sees Ω\n", "vocab", "-vocab", both, "-encode").stdout
	if got := mustRun(t, ids, "vocab", "-vocab", both, "-decode").stdout; got != "the red dog sees <unk>\n" {
		t.Errorf("-decode printed %q, want the words and <unk>", got)
	}
	args, m := trainArgs(t, "-vocab", both, "-steps", "2")
	mustRun(t, "", args...)
	if again := mustRun(t, "the red dog sees Ω\n", "vocab", "-vocab", m, "-encode").stdout; again != ids {
		t.Errorf("a model encodes %q, want %q as -vocab of its training", again, ids)
	}
	if got := mustRun(t, "the red dog\n", "translate", "-model", m, "-prefix", "le chien").stdout; !strings.HasPrefix(got, "le chien") {
		t.Errorf("-prefix: %q, want a translation that begins with it", got)
	}

	mustFail(t, runTFM(t, "", "vocab", "-vocab", codes, "-show"), 1, codes+": found codes of subword-nmt", codes+",VOCABULARY")
}

// tfm trains .model files of sentencepiece.
func TestVocabTrainSentencePiece(t *testing.T) {
	dir := t.TempDir()
	lines := texttest.Lines(200)
	src := write(t, "src.txt", strings.Join(lines, "\n")+"\n")
	for size, args := range map[string][]string{"400": nil, "660": {"-byte-fallback", "-normalization", "identity"}} {
		model := filepath.Join(dir, "m.model")
		all := append([]string{"vocab", "-o", model, "-character-coverage", "1", "-vocab-size", size, "-model-type", "unigram"}, args...)
		mustHave(t, mustRun(t, "", append(all, src)...).stderr, size+" pieces from 200 lines")
		ids := mustRun(t, lines[7]+"\n", "vocab", "-vocab", model, "-encode").stdout
		if got := mustRun(t, ids, "vocab", "-vocab", model, "-decode").stdout; got != lines[7]+"\n" {
			t.Errorf("%q: decoded %q", all, got)
		}
	}
	model := filepath.Join(dir, "other.model")
	unigram := []string{"vocab", "-o", model, "-model-type", "unigram", src}
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{1, []string{"-vocab-size", "9000"}, "vocabulary of 9000 pieces, expected at most"},
		{2, []string{"-vocab-size", "200", "-byte-fallback"}, "-vocab-size: vocabulary of 200 pieces, expected at least 259"},
		{2, []string{"-model-type", "byte-bpe", "-byte-fallback"}, "-byte-fallback needs -model-type unigram"},
	} {
		mustFail(t, runTFM(t, "", append(unigram, c.args...)...), c.code, c.want)
	}
	mustFail(t, runTFM(t, "", "vocab", "-vocab", model, "-model-type", "unigram", "-show"), 2, "-model-type needs -o")
}
