package parttest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

func CheckError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q", what, err, want)
	}
}

func TokenizersOf(t testing.TB, f model.File) vocab.Tokenizers {
	t.Helper()
	v, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		t.Fatal(err)
	}
	if v.Source.Size() != f.Model.Config.SrcVocab || v.Target.Size() != f.Model.Config.TgtVocab {
		t.Fatalf("tokenizers of %d and %d pieces, the model has %d and %d", v.Source.Size(), v.Target.Size(), f.Model.Config.SrcVocab, f.Model.Config.TgtVocab)
	}
	return v
}

// CheckFuzzed checks the result of a reader: an error of one line, or a model that translates and
// can be saved.
func CheckFuzzed(t *testing.T, f model.File, err error) {
	t.Helper()
	if err != nil {
		if s := err.Error(); strings.Contains(strings.TrimSpace(s), "\n") || len(s) > 2000 {
			t.Errorf("error %q", s)
		}
		return
	}
	if _, _, err := f.Encode(); err != nil {
		t.Fatalf("found a model that cannot be saved: %v", err)
	}
	v := TokenizersOf(t, f)
	src := v.Source.Encode(nil, "ta gi")
	if len(src) < f.Model.Config.MaxLen {
		decode.New(decode.NewWeights(f.Model, nil), nil).Next(src, nil)
	}
}

// RandomModelFile returns a model with random weights and vocabularies of SentencePiece, of the
// source and the target of testdata, or joint ones.
func RandomModelFile(t testing.TB, joint bool, change func(*model.Config)) model.File {
	t.Helper()
	read := func(name string) *sentencepiece.Tokenizer {
		tokenizer, err := sentencepiece.Unmarshal([]byte(ReadFile(t, filepath.Join(testdata(), "marian-separate", name))))
		if err != nil {
			t.Fatal(err)
		}
		return tokenizer
	}
	tokenizers := vocab.Tokenizers{Source: read("source.spm"), Target: read("target.spm")}
	if joint {
		tokenizers.Target = tokenizers.Source
	}
	return RandomModelOf(t, tokenizers, change)
}

// RandomModelOf returns a model with random weights and the given vocabularies.
func RandomModelOf(t testing.TB, tokenizers vocab.Tokenizers, change func(*model.Config)) model.File {
	t.Helper()
	c := model.Config{DModel: 24, Heads: 2, DFF: 20, EncoderLayers: 2, DecoderLayers: 2, Dropout: 0.1, LabelSmoothing: 0.1, Tie: model.TieDecoder, NormEps: 1e-5, MaxLen: 40}
	if tokenizers.Joint() {
		c.Tie = model.TieAll
	}
	c.SrcVocab, c.TgtVocab = tokenizers.Source.Size(), tokenizers.Target.Size()
	change(&c)
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range m.Params.W {
		m.Params.W[i] = float32(0.3 * r.NormFloat64())
	}
	files, err := tokenizers.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return model.File{Model: m, Tokenizers: files, SrcLang: "en", TgtLang: "de", Decoding: decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: 1, Suppressed: "4"}.String(), Info: map[string]string{"a": "b"}}
}

func ReadFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// SaveFiles writes files to a new folder and returns its path.
func SaveFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// SettingsOf returns the settings of f.
func SettingsOf(t testing.TB, f model.File) decode.Settings {
	t.Helper()
	d, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// SetSettings changes the settings of f.
func SetSettings(t testing.TB, f *model.File, change func(*decode.Settings)) {
	t.Helper()
	d := SettingsOf(t, *f)
	change(&d)
	f.Decoding = d.String()
}

// DataFile returns a path under the folder of corpora, $TFM_DATA. Without it it skips the test.
func DataFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("TFM_DATA")
	if dir == "" {
		t.Skip("optional: needs corpora in $TFM_DATA")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skip("optional: needs corpora: ", err)
	}
	return path
}

func ReadLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s, err := range text.ReadLines(f, path) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, s)
	}
	return lines
}

// testdata returns the folder of test data, for tests of package convert and of those in it.
func testdata() string {
	if _, err := os.Stat("testdata"); err == nil {
		return "testdata"
	}
	return filepath.Join("..", "testdata")
}
