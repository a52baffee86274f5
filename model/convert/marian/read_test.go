package marian

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
)

// marianHypothesis is a line of an n-best list of Marian.
type marianHypothesis struct {
	text  string
	score float64 // log-probability divided by length^normalize
}

func readMarianExpected(t *testing.T, path string) map[int][]marianHypothesis {
	t.Helper()
	lists := map[int][]marianHypothesis{}
	for _, line := range parttest.ReadLines(t, path) {
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

// The models that Marian trained have its translations and scores, greedy and of a beam of 4, up to
// its length limit, three times the source.
func TestMarianModels(t *testing.T) {
	for _, name := range []string{"joint", "separate"} {
		t.Run(name, func(t *testing.T) {
			path := parttest.DataFile(t, "marian-models/"+name+"/model.npz")
			f, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			parttest.SetSettings(t, &f, func(d *decode.Settings) { d.Alpha = 0.6 }) // --normalize 0.6 on the command line
			for _, beam := range []int{1, 4} {
				compareNBest(t, f, nil, beam, parttest.ReadLines(t, parttest.DataFile(t, "marian-models/source.en")), filepath.Join(filepath.Dir(path), fmt.Sprintf("expected.beam%d.txt", beam)))
			}
		})
	}
}

// compareNBest compares the n-best lists of f with those of Marian in a file.
func compareNBest(t *testing.T, f model.File, shortlist *decode.Shortlist, beam int, sources []string, expected string) {
	t.Helper()
	v := parttest.TokenizersOf(t, f)
	w := decode.NewWeights(f.Model, nil)
	settings := parttest.SettingsOf(t, f)
	w.SetUnnormedKeys(settings.UnnormedKeys)
	d := decode.New(w, nil)
	lists := readMarianExpected(t, expected)
	worst, nearTies, truncated := 0.0, 0, 0
	for i, s := range sources {
		o := decode.OptionsFor(settings)
		o.Beam, o.NBest, o.Shortlist = beam, beam, shortlist
		list, err := d.NBest(context.Background(), [][]int32{v.Source.Encode(nil, s)}, o)
		if err != nil {
			t.Fatal(err)
		}
		got, want := list[0], lists[i]
		if len(got) != len(want) {
			t.Errorf("%s: line %d: %d hypotheses, want %d", expected, i, len(got), len(want))
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
				t.Errorf("%s: line %d, hypothesis %d: %q, want %q", expected, i, k, text, want[k].text)
			}
			worst = max(worst, math.Abs(h.Score-want[k].score))
		}
	}
	t.Logf("%s: scores differ by at most %.2g; %d near ties, %d truncated", filepath.Base(expected), worst, nearTies, truncated)
	if !(worst <= 1e-3) {
		t.Errorf("%s: scores differ by %v", expected, worst)
	}
}

// A student that Marian trained has its translations and scores, with its shortlist and without it.
// Its files in int8 have the weights of that in float32, rounded.
func TestMarianStudents(t *testing.T) {
	path := parttest.DataFile(t, "students/tiny/model.npz")
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	sources := parttest.ReadLines(t, filepath.Join(dir, "source.en"))
	list, err := decode.ReadShortlist(f.Shortlist, f.Model.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, beam := range []int{1, 4} {
		compareNBest(t, f, nil, beam, sources, filepath.Join(dir, fmt.Sprintf("expected.float32.beam%d.txt", beam)))
		compareNBest(t, f, list, beam, sources, filepath.Join(dir, fmt.Sprintf("expected.float32.shortlist.beam%d.txt", beam)))
	}
	for _, name := range []string{"model.intgemm.bin", "model.intgemm.alphas.bin"} {
		rounded, err := Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range f.Model.Params.List {
			step := float32(0)
			if steps := rounded.Steps[p.Name]; steps != nil {
				step = slices.Max(steps)
			}
			for k, x := range rounded.Model.Params.List[i].W {
				if diff := math.Abs(float64(x - p.W[k])); diff > 0.5001*float64(step) {
					t.Fatalf("%s: %s: found %v, want %v", name, p.Name, x, p.W[k])
				}
			}
		}
	}
}

// isNearTie reports whether a neighbour of hypothesis k has almost its score.
func isNearTie(list []marianHypothesis, k int) bool {
	near := func(j int) bool { return j > 0 && j < len(list) && math.Abs(list[j].score-list[k].score) < 1e-4 }
	return near(k-1) || near(k+1)
}
