package convert

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/model"
	"tfm/model/convert/internal/parttest"
	"tfm/model/convert/pytorch"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text/tokenizer/vocab"
)

const loadProgram = `
import importlib.util, json, sys, warnings, torch
warnings.simplefilter("ignore")
torch.set_num_threads(1)
out = []
for case in json.load(sys.stdin):
    spec = importlib.util.spec_from_file_location("load", case["dir"] + "/load.py")
    load = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(load)
    model, (encode, _), (_, decode) = load.load()
    model.eval()
    sources = [encode(line) for line in case["lines"]]
    targets = [model.greedy(s) for s in sources]
    with torch.no_grad():
        memories = [model.encode(torch.tensor([model.marked(s)])) for s in sources]
        logits = [model.decode(m, torch.tensor([[1] + t[:-1]]))[0].tolist() for m, t in zip(memories, targets)]
    out.append({"sources": sources, "targets": targets, "texts": [decode(t) for t in targets], "logits": logits})
json.dump(out, sys.stdout)
`

// PyTorch's nn.Transformer, loaded by load.py, has the source ids, the logits within 1e-4, and the
// greedy translations of the exported model, in each of its variants.
func TestWritePyTorch(t *testing.T) {
	python := pythonWith(t, "torch", "safetensors", "tokenizers", "sentencepiece")
	source, target := texttest.Pairs(300)
	joint := trainBPE(t, 400, slices.Concat(source, target))
	jointBPE := vocab.Tokenizers{Source: joint, Target: joint}
	separateBPE := vocab.Tokenizers{Source: trainBPE(t, 350, source), Target: trainBPE(t, 330, target)}
	separateUnigram := vocab.Tokenizers{Source: trainSentencePiece(t, 120, source), Target: trainSentencePiece(t, 100, target)}
	small := func(change func(*model.Config)) model.Config {
		c := model.Config{DModel: 16, Heads: 2, DFF: 32, EncoderLayers: 2, DecoderLayers: 2, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 128}
		change(&c)
		return c
	}
	lines := slices.Concat(source[:6], []string{"", "  x </s> ", "日本"})
	type request struct {
		Dir   string   `json:"dir"`
		Lines []string `json:"lines"`
	}
	var requests []request
	var files []model.File
	for i, x := range []struct {
		config     model.Config
		tokenizers vocab.Tokenizers
	}{
		{small(func(c *model.Config) {}), jointBPE},
		{small(func(c *model.Config) { c.Norm, c.Activation, c.EncoderLayers = model.PreNorm, model.GELU, 1 }), jointBPE},
		{small(func(c *model.Config) {
			c.Tie, c.OutputBias, c.FinalNorm, c.Activation = model.TieDecoder, true, model.FinalNormOn, model.SiLU
		}), separateBPE},
		{small(func(c *model.Config) {
			c.Tie, c.Positions, c.Biases, c.Activation, c.NormEps = model.TieNone, model.Learned, model.NoBiases, model.GELUTanh, 1e-3
		}), separateUnigram},
		{small(func(c *model.Config) {
			c.Tie, c.Positions, c.Biases, c.Unscaled, c.Norm, c.FinalNorm = model.TieNone, model.Halves, model.FeedForwardBiases, true, model.PreNorm, model.FinalNormOff
			c.Source = model.NoMarks
		}), separateUnigram},
		{small(func(c *model.Config) {
			c.Positions, c.FirstPosition, c.Heads, c.Source = model.TimingSignal, 1, 1, model.BOSAndEOS
		}), jointBPE},
	} {
		f := randomFile(t, x.config, x.tokenizers, uint64(i))
		if i == 0 {
			var ids []int32
			for id := int32(10); id < 300; id++ {
				ids = append(ids, id)
			}
			parttest.SetSettings(t, &f, func(d *decode.Settings) { d.Suppressed = decode.FormatSuppressed(ids) })
		}
		dir := filepath.Join(t.TempDir(), "out")
		if err := pytorch.Write(dir, f); err != nil {
			t.Fatal(err)
		}
		requests, files = append(requests, request{dir, lines}), append(files, f)
	}
	var results []struct {
		Sources, Targets [][]int32
		Texts            []string
		Logits           [][][]float64
	}
	runPython(t, python, loadProgram, requests, &results)
	for i, got := range results {
		v, err := vocab.UnmarshalTokenizers(files[i].Tokenizers)
		if err != nil {
			t.Fatal(err)
		}
		state := decode.NewState(decode.NewWeights(files[i].Model, nil), nil)
		suppressed, err := decode.ParseSuppressed(parttest.SettingsOf(t, files[i]).Suppressed)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for j, line := range lines {
			src := v.Source.Encode(nil, line)
			if !slices.Equal(got.Sources[j], src) {
				t.Errorf("model %d: ids of %q are %v, want %v", i, line, got.Sources[j], src)
				continue
			}
			handle := state.Add(nil, src)[0]
			row := decode.Row{Source: handle, Token: model.BOS, Parent: -1}
			for k, token := range got.Targets[j] {
				logits := state.Step([]decode.Row{row}).Row(0)
				best := int32(model.EOS)
				for id, x := range logits {
					worst = max(worst, math.Abs(float64(x)-got.Logits[j][k][id]))
					if id > model.EOS && !slices.Contains(suppressed, int32(id)) && x > logits[best] {
						best = int32(id)
					}
				}
				if token != best {
					t.Errorf("model %d: token %d of the translation of %q is %d, want %d", i, k, line, token, best)
				}
				row = decode.Row{Source: handle, Token: token}
			}
			marked := len(files[i].Model.Config.Source.Append(nil, src))
			if n := len(got.Targets[j]); got.Targets[j][n-1] != model.EOS && n != marked+49 {
				t.Errorf("model %d: translation of %q has %d tokens, want an end or %d", i, line, n, marked+49)
			}
			// With invalid UTF-8 Python has U+FFFD for other bytes.
			if want := v.Target.Decode(got.Targets[j]); !strings.Contains(got.Texts[j], "\uFFFD") && got.Texts[j] != want {
				t.Errorf("model %d: text of %v is %q, want %q", i, got.Targets[j], got.Texts[j], want)
			}
			state.Remove(handle)
		}
		if worst > 1e-4 {
			t.Errorf("model %d: logits differ by %.2g, want at most 1e-4", i, worst)
		}
		t.Logf("model %d: logits differ by %.2g", i, worst)
	}
}

// The file has the weights of the model, each once.
func TestPyTorchTensors(t *testing.T) {
	tokenizer := trainBPE(t, 260, []string{"a b c"})
	c := model.Config{DModel: 6, Heads: 2, DFF: 8, EncoderLayers: 2, DecoderLayers: 3, Tie: model.TieNone, NormEps: 1e-5, MaxLen: 8, Positions: model.Learned,
		OutputBias: true, FinalNorm: model.FinalNormOn}
	f := randomFile(t, c, vocab.Tokenizers{Source: tokenizer, Target: tokenizer}, 1)
	var got, want []float32
	names := map[string]bool{}
	dir := t.TempDir()
	if err := pytorch.Write(dir, f); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Map(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, x := range file.Tensors() {
		names[x.Name] = true
		data := make([]float32, len(x.Data)/4)
		if err := x.Float32s(data); err != nil {
			t.Fatal(err)
		}
		got = append(got, data...)
	}
	want = slices.Clone(f.Model.Params.W)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %d weights, want the %d of the model", len(got), len(want))
	}
	if !names["encoder.layers.1.self_attn.in_proj_weight"] || !names["decoder.layers.2.multihead_attn.out_proj.bias"] || !names["decoder.norm.bias"] {
		t.Errorf("found the tensors %v", slices.Sorted(maps.Keys(names)))
	}
}
