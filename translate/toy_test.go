package translate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
	"tfm/translate"
)

var (
	adjectives = [][2]string{{"red", "rouge"}, {"black", "noir"}, {"old", "vieux"}, {"good", "bon"}}
	nouns      = [][2]string{{"dog", "chien"}, {"cat", "chat"}, {"book", "livre"}, {"tree", "arbre"}}
)

// toy returns the path of the file of a small model, trained once for all tests. It translates
// phrases of an adjective and a noun, whose order differs in the target.
var toy = sync.OnceValues(func() (string, error) {
	var corpus []text.Pair
	for _, a := range adjectives {
		for _, n := range nouns {
			corpus = append(corpus, text.Pair{Source: "the " + a[0] + " " + n[0], Target: "le " + n[1] + " " + a[1]})
		}
	}
	var v vocab.Trainer
	for _, p := range corpus {
		v.Add(p)
	}
	tokens, err := v.Train(320, true)
	if err != nil {
		return "", err
	}
	m, err := model.New(model.Config{DModel: 32, Heads: 4, DFF: 64, EncoderLayers: 1, DecoderLayers: 1, Norm: model.PreNorm,
		SrcVocab: tokens.Source.Size(), TgtVocab: tokens.Target.Size(), Tie: model.TieAll, NormEps: 1e-5, MaxLen: 32})
	if err != nil {
		return "", err
	}
	m.AllocForTraining()
	m.Init(1)
	var batch model.Batch
	for _, p := range corpus {
		batch.Append(tokens.Source.Encode(nil, p.Source), tokens.Target.Encode(nil, p.Target))
	}
	pass := model.NewPass(m, nil)
	first, second := make([]float32, m.Params.Count()), make([]float32, m.Params.Count())
	for i := range 120 {
		clear(m.Params.G)
		pass.Train(&batch, 0, 1/float32(len(batch.TgtOut)))
		t := float64(i + 1)
		// Rate and VScale include the bias corrections.
		step := mat.Adam{Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, GradScale: 1,
			StepSize: float32(5e-3 / (1 - math.Pow(0.9, t))), VScale: float32(1 / (1 - math.Pow(0.98, t)))}
		step.Step(m.Params.W, m.Params.G, first, second)
	}
	files, err := tokens.Marshal()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "toy.safetensors")
	return path, model.File{Model: m, Tokenizers: files}.Save(path)
})

var folder string // of the toy's model file

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "translate-*"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// toyModel returns the path of the toy's model file.
func toyModel() string {
	path, err := toy()
	if err != nil {
		panic(err)
	}
	return path
}

// open opens the toy, which is closed at the end of the test.
func open(t *testing.T, o translate.Options) *translate.Translator {
	t.Helper()
	return openFile(t, toyModel(), o)
}

// openFile opens a model file, which is closed at the end of the test.
func openFile(t *testing.T, path string, o translate.Options) *translate.Translator {
	t.Helper()
	tr, err := translate.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// phrases returns all phrases of the toy's corpus with their translations.
func phrases() (sources, targets []string) {
	for _, a := range adjectives {
		for _, n := range nouns {
			sources, targets = append(sources, strings.Join([]string{"the", a[0], n[0]}, " ")), append(targets, strings.Join([]string{"le", n[1], a[1]}, " "))
		}
	}
	return sources, targets
}

// do returns the results of a request.
func do(t *testing.T, tr *translate.Translator, r translate.Request) []translate.Result {
	t.Helper()
	results, err := tr.Do(background, r)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// randomTranslator returns a translator of a small model with random weights, which can say
// anything.
func randomTranslator(t *testing.T, tokenizers vocab.Tokenizers, seed uint64) *translate.Translator {
	t.Helper()
	m, err := model.New(model.Config{DModel: 16, Heads: 2, DFF: 16, EncoderLayers: 1, DecoderLayers: 1, Norm: model.PreNorm,
		SrcVocab: tokenizers.Source.Size(), TgtVocab: tokenizers.Target.Size(), Tie: model.TieNone, NormEps: 1e-5, MaxLen: 64})
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(seed)
	random := rand.New(rand.NewPCG(seed, 8))
	for i := range m.Params.W {
		m.Params.W[i] += float32(0.7 * random.NormFloat64())
	}
	return newTranslator(t, m, tokenizers, translate.Options{Threads: 1})
}

// newTranslator returns a translator of a model in memory, which is closed at the end of the test.
func newTranslator(t *testing.T, m *model.Transformer, tokenizers vocab.Tokenizers, o translate.Options) *translate.Translator {
	t.Helper()
	tr, err := translate.New(m, tokenizers, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// writeFile writes a text to a file.
func writeFile(t testing.TB, path, s string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}
