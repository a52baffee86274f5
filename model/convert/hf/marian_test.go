package hf

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/lang"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
)

// marianCase is a text in expected.json of a folder that testdata/gen_marian.py wrote.
type marianCase struct {
	Text       string
	Source     []int32     // with EOS
	Given      []int32     // the begin of a translation
	Logits     [][]float64 // after the last tokens of Given
	Greedy     []int32     // with EOS
	GreedyText string      `json:"greedy_text"`
	Beam       [][]int32
	BeamScores []float64 `json:"beam_scores"`
	BeamTexts  []string  `json:"beam_texts"`
}

// readCases returns the cases in expected.json of a folder.
func readCases[T any](t *testing.T, dir string) []T {
	t.Helper()
	var expected struct{ Cases []T }
	if err := json.Unmarshal([]byte(parttest.ReadFile(t, filepath.Join(dir, "expected.json"))), &expected); err != nil {
		t.Fatal(err)
	}
	return expected.Cases
}

// marianFolder returns a folder of testdata with the model in it and the ids of its pieces in
// transformers, by their ids in the model file, for both sides.
func marianFolder(t *testing.T, name string) (f model.File, src, tgt []int32) {
	t.Helper()
	f, err := ReadMarian(filepath.Join("../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	v := parttest.TokenizersOf(t, f)
	ids := func(tokenizer text.Tokenizer, vocab string) (ids []int32) {
		names := map[string]int32{}
		if err := json.Unmarshal([]byte(parttest.ReadFile(t, filepath.Join("../testdata", name, vocab))), &names); err != nil {
			t.Fatal(err)
		}
		s := tokenizer.(*sentencepiece.Tokenizer)
		for id := range int32(s.Size()) {
			file := s.FileID(id)
			if int(file) >= len(names) { // a piece that the vocabulary lacks
				file = names["<unk>"]
			}
			ids = append(ids, file)
		}
		return ids
	}
	targetVocab := vocabFile
	if parts.IsFile(filepath.Join("../testdata", name), targetVocabFile) {
		targetVocab = targetVocabFile
	}
	return f, ids(v.Source, vocabFile), ids(v.Target, targetVocab)
}

var marianFolders = []string{"marian-shared", "marian-codes", "marian-separate", "marian-untied", "marian-half"}

// sourceOf returns the source of a text, which may begin with the code of a language.
func sourceOf(f model.File, source text.Tokenizer, s string) []int32 {
	var ids []int32
	if code, rest, found := lang.CutCode(s); found {
		l, err := f.Model.Config.TgtLanguages.Find("to", code)
		if err == nil {
			ids, s = append(ids, l.IDs...), rest
		}
	}
	return source.Encode(ids, s)
}

// Models that transformers saved have its tokens, logits and translations, greedy and of beam
// search.
func TestMarianHF(t *testing.T) {
	for _, name := range marianFolders {
		t.Run(name, func(t *testing.T) {
			f, src, tgt := marianFolder(t, name)
			if c := f.Model.Config; (c.TgtLanguages != "") != (name == "marian-codes") || c.TgtLanguages != "" && f.TgtLang != "" {
				t.Errorf("languages %q, and %q of a text without a code", c.TgtLanguages, f.TgtLang)
			}
			v := parttest.TokenizersOf(t, f)
			numBeams := numBeamsOf(t, filepath.Join("../testdata", name))
			if c := f.Model.Config; parttest.SettingsOf(t, f).Beam != numBeams || c.Dropout != 0.1 || c.AttentionDropout != 0 || c.FFDropout != 0 {
				t.Errorf("found a beam of %d, want %d, and dropout %v, %v and %v, want that of config.json", parttest.SettingsOf(t, f).Beam, numBeams, c.Dropout, c.AttentionDropout, c.FFDropout)
			}
			x := newComparison(f, src, tgt)
			for _, c := range readCases[marianCase](t, filepath.Join("../testdata", name)) {
				x.compare(t, sourceOf(f, v.Source, c.Text), c, 38, nil) // max_length 40 has BOS and EOS too
			}
			x.check(t)
		})
	}
}

// comparison compares a model with what transformers computed.
type comparison struct {
	file              model.File
	weights           *decode.Weights
	src, tgt          []int32 // ids in transformers
	worst, worstScore float64
	compared          int
}

func newComparison(f model.File, src, tgt []int32) *comparison {
	return &comparison{file: f, weights: decode.NewWeights(f.Model, nil), src: src, tgt: tgt}
}

// compare compares the tokens ids of a source, its logits and its translations of up to maxTokens.
func (x *comparison) compare(t *testing.T, ids []int32, c marianCase, maxTokens int, begins *decode.Begins) {
	t.Helper()
	var got []int32
	for _, id := range append(slices.Clone(ids), text.EOS) {
		got = append(got, x.src[id])
	}
	if !slices.Equal(got, c.Source) {
		t.Errorf("%q: tokens %v, want %v", c.Text, got, c.Source)
		return
	}
	x.worst = max(x.worst, logitsDiffer(t, x.weights, ids, x.tgt, c))
	target, settings := parttest.TokenizersOf(t, x.file).Target, parttest.SettingsOf(t, x.file)
	for _, beam := range []int{1, settings.Beam} {
		o := decode.OptionsFor(settings)
		o.Beam, o.NBest, o.MaxExtra, o.MaxTokens, o.Begins = beam, min(beam, 4), 1000, maxTokens, begins
		lists, err := decode.New(x.weights, nil).NBest(context.Background(), [][]int32{ids}, o)
		if err != nil {
			t.Fatal(err)
		}
		want, texts := [][]int32{c.Greedy}, []string{c.GreedyText}
		if beam > 1 {
			want, texts = c.Beam, c.BeamTexts
		}
		k := 0
		var last []decode.Hypothesis // truncated, without the last token
		for _, h := range lists[0] {
			isSame := func(h decode.Hypothesis, w []int32) bool {
				return len(w) == len(h.Tokens)+1 && h.Truncated == (w[len(w)-1] != x.tgt[text.EOS]) && equalIDs(h.Tokens, x.tgt, w[:len(w)-1])
			}
			for k < len(want) && slices.ContainsFunc(last, func(h decode.Hypothesis) bool { return isSame(h, want[k]) }) {
				k++
			}
			if h.Truncated {
				last = append(last, h)
			}
			if k == len(want) { // more than transformers has room for
				break
			}
			if !isSame(h, want[k]) {
				t.Errorf("%q, beam %d, %d: found %v, want %v", c.Text, beam, k, h, want[min(k, len(want)-1)])
				break
			}
			if s := target.Decode(h.Tokens); strings.TrimSpace(s) != strings.TrimSpace(texts[k]) && !h.Truncated {
				t.Errorf("%q, beam %d, %d: text %q, want %q", c.Text, beam, k, s, texts[k])
			}
			if beam > 1 {
				x.worstScore = max(x.worstScore, math.Abs(h.Score-c.BeamScores[k]))
			}
			k++
			x.compared++
		}
	}
}

// check checks the differences of all sources.
func (x *comparison) check(t *testing.T) {
	t.Helper()
	t.Logf("%d hypotheses; logits differ by at most %.2g, scores by %.2g", x.compared, x.worst, x.worstScore)
	if !(x.worst <= 1e-4) || !(x.worstScore <= 1e-4) || x.compared < 10 {
		t.Errorf("%d hypotheses: logits differ by %v, scores by %v", x.compared, x.worst, x.worstScore)
	}
}

// numBeamsOf returns the beam of a folder's generation settings.
func numBeamsOf(t *testing.T, dir string) int {
	t.Helper()
	g := generation{NumBeams: 1}
	if err := testFolder(t, dir).ReadJSON(generationFile, false, &g); err != nil {
		t.Fatal(err)
	}
	return g.NumBeams
}

// equalIDs reports whether ids are those of want.
func equalIDs(ids, table, want []int32) bool {
	for i, id := range ids {
		if table[id] != want[i] {
			return false
		}
	}
	return len(ids) == len(want)
}

// logitsDiffer returns the largest difference of the logits after the last tokens of c.Given.
func logitsDiffer(t *testing.T, w *decode.Weights, src, tgt []int32, c marianCase) (worst float64) {
	t.Helper()
	toID := map[int32]int32{}
	for id := len(tgt) - 1; id >= int(text.EOS); id-- {
		toID[tgt[id]] = int32(id)
	}
	s := decode.NewState(w, nil)
	s.Add(nil, src)
	row := decode.Row{Token: text.BOS, Parent: -1}
	for i, given := range c.Given {
		if i > 0 {
			row = decode.Row{Token: toID[given]}
		}
		logits := s.Step([]decode.Row{row}).Row(0)
		k := i - (len(c.Given) - len(c.Logits))
		if k < 0 {
			continue
		}
		for from, want := range c.Logits[k] {
			worst = max(worst, math.Abs(float64(logits[toID[int32(from)]])-want))
		}
		if w.Config().OutputBias && (logits[text.Pad] != parts.MinusInf || logits[text.BOS] != parts.MinusInf) {
			t.Errorf("logits of Pad and BOS are %v and %v", logits[text.Pad], logits[text.BOS])
		}
	}
	return worst
}

// FuzzReadMarianHF reads folders of transformers.
func FuzzReadMarianHF(f *testing.F) {
	dir := f.TempDir()
	names := []string{ConfigFile, generationFile, vocabFile, parts.TokenizerConfigFile, modelFile, sourceFile}
	for _, folder := range []string{"marian-half", "marian-codes"} {
		var files [][]byte
		for _, name := range append(names, targetFile) {
			data, err := os.ReadFile(filepath.Join("../testdata", folder, name))
			if err != nil {
				f.Fatal(err)
			}
			files = append(files, data)
		}
		f.Add(files[0], files[1], files[2], files[3], files[4], files[5])
		if err := os.WriteFile(filepath.Join(dir, targetFile), files[6], 0o666); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, config, generation, vocab, tokenizer, weights, spm []byte) {
		for i, data := range [][]byte{config, generation, vocab, tokenizer, weights, spm} {
			if err := os.WriteFile(filepath.Join(dir, names[i]), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		file, err := ReadMarian(dir)
		parttest.CheckFuzzed(t, file, err)
	})
}

// testFolder opens a folder.
func testFolder(t testing.TB, dir string) parts.Folder {
	t.Helper()
	f, err := parts.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
