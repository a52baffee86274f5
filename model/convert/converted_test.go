package convert

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// The converter of CTranslate2 expects a shorter end of the settings than Marian 1.12 writes.
const marianConverterProgram = `
import json, os, shutil, sys, yaml, sentencepiece, ctranslate2
import ctranslate2.converters.marian as marian
marian._get_model_config = lambda model: yaml.safe_load(model["special:model.yml"].tobytes().rstrip(b"\0"))
case = json.load(sys.stdin)
os.makedirs(case["dir"])
names, tokenizers = [], []
for side, path in (("source", case["source"]), ("target", case["target"])):
    sp = sentencepiece.SentencePieceProcessor(model_file=path)
    tokenizers.append(sp)
    names.append(os.path.join(case["dir"], side + ".yml"))
    with open(names[-1], "w", encoding="utf-8") as f:
        for i in range(sp.get_piece_size()):
            f.write('"%s": %d\n' % (sp.id_to_piece(i).replace("\\", "\\\\").replace('"', '\\"'), i))
folder = os.path.join(case["dir"], "model")
marian.MarianConverter(case["model"], names).convert(folder)
for side in ("source", "target"):
    shutil.copy(case[side], os.path.join(folder, side + ".spm"))
    os.chmod(os.path.join(folder, side + ".spm"), 0o600)
t = ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)
sources = [tokenizers[0].encode(line, out_type=str) for line in case["lines"]]
out = {}
for beam in (1, 4):
    results = t.translate_batch(sources, beam_size=beam, length_penalty=0.6, min_decoding_length=0, max_decoding_length=100, return_scores=True)
    out[beam] = [{"text": tokenizers[1].decode_pieces(r.hypotheses[0]), "tokens": len(r.hypotheses[0]), "score": r.scores[0]} for r in results]
json.dump(out, sys.stdout)
`

// Marian's models that CTranslate2 converted have, bit for bit, the weights that the reader of
// Marian's own files gives them, and translate as CTranslate2 does. The configurations differ:
// CTranslate2 replaces Marian's sinusoids by those of the paper in halves, and its epsilon.
func TestReadCTranslate2OfMarian(t *testing.T) {
	data := parttest.DataFile(t, "marian-models")
	python := pythonWith(t, "ctranslate2", "sentencepiece", "yaml")
	source, err := os.ReadFile(filepath.Join(data, "source.en"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(source)), "\n")
	pool := mat.NewPool(2)
	defer pool.Close()
	for name, spm := range map[string][2]string{"joint": {"vocab.spm", "vocab.spm"}, "separate": {"source.spm", "target.spm"}} {
		dir := t.TempDir()
		path := filepath.Join(data, name, "model.npz")
		var want map[string][]struct {
			Text   string
			Tokens int
			Score  float64
		}
		runPython(t, python, marianConverterProgram, map[string]any{
			"dir": filepath.Join(dir, "work"), "model": path, "lines": lines,
			"source": filepath.Join(data, name, spm[0]), "target": filepath.Join(data, name, spm[1]),
		}, &want)
		f, err := Read(filepath.Join(dir, "work", "model"))
		if err != nil {
			t.Fatal(err)
		}
		direct, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range direct.Model.Params.List {
			if q := f.Model.Params.List[i]; q.Name != p.Name || !slices.EqualFunc(q.W, p.W, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Errorf("%s: %s differs from %s of the direct import", name, q.Name, p.Name)
			}
		}
		v, err := vocab.UnmarshalTokenizers(f.Tokenizers)
		if err != nil {
			t.Fatal(err)
		}
		var srcs [][]int32
		for _, line := range lines {
			srcs = append(srcs, v.Source.Encode(nil, line))
		}
		d := decode.New(decode.NewWeights(f.Model, pool), pool)
		for beam, key := range map[int]string{1: "1", 4: "4"} {
			o := decode.Options{Beam: beam, Alpha: 0.6, Penalty: decode.PenaltyPower, MaxExtra: 200, MaxTokens: 100}
			list, err := d.Translate(context.Background(), srcs, o)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for i, h := range list {
				w := want[key][i]
				if isLong := h.Truncated || w.Tokens == 100; isLong {
					continue // CTranslate2 scores them without a last token
				}
				got, _ := text.OneLine(v.Target.Decode(h.Tokens), nil)
				if got != w.Text {
					t.Errorf("%s: beam %d: line %d: %q (%v), want %q (%v)", name, beam, i, got, h.Score, w.Text, w.Score)
				}
				worst = max(worst, math.Abs(h.Score-w.Score))
			}
			t.Logf("%s: beam %d: %d lines, scores within %.2g", name, beam, len(list), worst)
			if worst > 1e-4 {
				t.Errorf("%s: beam %d: scores differ by up to %.3g, want 1e-4", name, beam, worst)
			}
		}
	}
}
