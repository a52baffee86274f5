package convert

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text/vocab"
)

// marianHypothesis is a line of an n-best list of Marian.
type marianHypothesis struct {
	text  string
	score float64 // log-probability divided by length^normalize
}

func readMarianExpected(t *testing.T, path string) map[int][]marianHypothesis {
	t.Helper()
	lists := map[int][]marianHypothesis{}
	for _, line := range readLines(t, path) {
		fields := strings.Split(line, " ||| ")
		i, err1 := strconv.Atoi(fields[0])
		score, err2 := strconv.ParseFloat(fields[len(fields)-1], 64)
		if len(fields) != 4 || err1 != nil || err2 != nil {
			t.Fatalf("%s: line %q", path, line)
		}
		lists[i] = append(lists[i], marianHypothesis{fields[1], score})
	}
	return lists
}

func tokenizersOf(t testing.TB, f model.File) vocab.Tokenizers {
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

// The models that Marian trained have its translations and scores, greedy and of a beam of 4, up to
// its length limit, three times the source.
func TestMarianModels(t *testing.T) {
	for _, name := range []string{"joint", "separate"} {
		t.Run(name, func(t *testing.T) {
			compareWithMarian(t, dataFile(t, "marian-models/"+name+"/model.npz"), dataFile(t, "marian-models/source.en"), 1, 4)
		})
	}
}

// So have models of type transformer-new, which have learned positions.
func TestMarianNewModels(t *testing.T) {
	for _, name := range []string{"marian-new-post", "marian-new-pre"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			f := compareWithMarian(t, filepath.Join(dir, marianFile), filepath.Join(dir, "source.txt"), 1, 3)
			if c := f.Model.Config; c.Positions != model.Learned || !c.Unscaled || c.MaxLen != 48 || f.Decoding.Beam != 3 || f.Decoding.LengthFactor != 1.5 {
				t.Errorf("found %+v, %+v", c, f.Decoding)
			}
		})
	}
}

// compareWithMarian compares the n-best lists of the model at path, normalized by length^0.6, with
// those beside it.
func compareWithMarian(t *testing.T, path, source string, beams ...int) model.File {
	t.Helper()
	f, err := ReadMarian(path)
	if err != nil {
		t.Fatal(err)
	}
	v := tokenizersOf(t, f)
	w := decode.NewWeights(f.Model, nil)
	w.SetUnnormedKeys(f.Decoding.UnnormedKeys)
	d := decode.New(w, nil)
	f.Decoding.Alpha = 0.6 // --normalize 0.6 on the command line
	sources := readLines(t, source)
	for _, beam := range beams {
		lists := readMarianExpected(t, filepath.Join(filepath.Dir(path), fmt.Sprintf("expected.beam%d.txt", beam)))
		ids := make([][]int32, len(sources))
		for i, s := range sources {
			ids[i] = v.Source.Encode(nil, s)
		}
		worst, nearTies, truncated := 0.0, 0, 0
		for i, src := range ids {
			o := decode.OptionsFor(f.Decoding)
			o.Beam, o.NBest = beam, beam
			list, err := d.NBest(context.Background(), [][]int32{src}, o)
			if err != nil {
				t.Fatal(err)
			}
			got, want := list[0], lists[i]
			if len(got) != len(want) {
				t.Errorf("beam %d, line %d: %d hypotheses, want %d", beam, i, len(got), len(want))
				continue
			}
			for k, h := range got {
				if h.Truncated {
					truncated++
				}
				switch text := v.Target.Decode(h.Tokens); {
				case text == want[k].text:
				case k > 0 && isNearTie(want, k):
					nearTies++
				default:
					t.Errorf("beam %d, line %d, hypothesis %d: %q, want %q", beam, i, k, text, want[k].text)
				}
				worst = max(worst, math.Abs(h.Score-want[k].score))
			}
		}
		t.Logf("beam %d: scores differ by at most %.2g; %d near ties, %d truncated", beam, worst, nearTies, truncated)
		if !(worst <= 1e-3) {
			t.Errorf("beam %d: scores differ by %v", beam, worst)
		}
	}
	return f
}

// isNearTie reports whether a neighbour of hypothesis k has almost its score.
func isNearTie(list []marianHypothesis, k int) bool {
	near := func(j int) bool { return j > 0 && j < len(list) && math.Abs(list[j].score-list[k].score) < 1e-4 }
	return near(k-1) || near(k+1)
}
