package corpus

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tfm/lang"
	"tfm/text"
	"tfm/text/augment"
)

// Mix is training data of several datasets. The training draws from them in shares that may change
// from stage to stage. Each dataset is read again and again, in the order of its files, and the
// pairs of a window are shuffled together; see train.Stream. The survey, the tokenizers and the
// held-out pairs are of all datasets, one after another.
type Mix struct {
	Datasets []Dataset
	Stages   []Stage // at least one; the last one lasts until the training ends
}

// Dataset is one of the texts of a Mix.
type Dataset struct {
	Name  string
	Files text.Files
	Tag   string // precedes each source sentence: >>fra<<, or a mark such as <bt>; "" is none

	SrcLang, TgtLang string // in the place of those of Options and Files; "" is those

	TrainOnly bool // hold no pairs out
}

// Stage is a part of a training with a Mix.
type Stage struct {
	Name      string
	Shares    []float64          // relative weights of the datasets; nil: their numbers of pairs
	Until     int                // the dataset that ends the stage
	Passes    float64            // of it in the stage; of the last stage they do not count
	Modifiers []augment.Modifier // of the pairs, in order
}

// Text returns the text of the mix, whose name is for messages.
func (m Mix) Text(name string) *Text { return newText(name, m.Stages, m.Datasets...) }

// Untagged returns the names of the datasets without the tag of a language, as Options.Tagged says.
func (m Mix) Untagged() (names []string) {
	for _, s := range m.Datasets {
		if _, rest, found := lang.CutCode(s.Tag); !found || rest != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// shares returns the shares of the datasets, whose numbers of pairs are given. Their sum is 1.
func (s Stage) shares(pairs []int) []float64 {
	shares := slices.Clone(s.Shares)
	if shares == nil {
		for _, n := range pairs {
			shares = append(shares, float64(n))
		}
	}
	sum := 0.0
	for _, share := range shares {
		sum += share
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// tagged returns a sentence with the tag before it. A blank one stays blank, so that it is skipped.
func (s Dataset) tagged(sentence string) string {
	if s.Tag == "" || text.IsBlank(sentence) {
		return sentence
	}
	return s.Tag + " " + sentence
}

// schedule computes how many of the first pairs of a training come from each dataset.
type schedule struct {
	stages []Stage // with shares whose sum is 1
	from   []int   // pairs of the training before each stage
	before [][]int // pairs of each dataset before each stage
}

// maxPairs is the limit of the pairs of a schedule: larger numbers are no exact float64.
const maxPairs = 1 << 53

// newSchedule returns the schedule of stages. sizes are the pairs of the datasets, heldOut how many
// of them are held out. These are skipped, so the share of the dataset is raised to compensate.
func newSchedule(stages []Stage, sizes, heldOut []int) (*schedule, error) {
	s := &schedule{stages: slices.Clone(stages), from: []int{0}, before: [][]int{make([]int, len(sizes))}}
	for n := range s.stages {
		stage := &s.stages[n]
		stage.Shares = stage.shares(sizes)
		for i, size := range sizes {
			if used := size - heldOut[i]; used > 0 {
				stage.Shares[i] = float64(stage.Shares[i] * float64(size) / float64(used))
			} else {
				stage.Shares[i] = 0
			}
		}
		stage.Shares = stage.shares(nil)
		if n == len(s.stages)-1 {
			break
		}
		pairs := math.Ceil(stage.Passes * float64(sizes[stage.Until]) / stage.Shares[stage.Until])
		if !(pairs < maxPairs-float64(s.from[n])) {
			return nil, fmt.Errorf("corpus: %v passes of %d pairs with a share of %v never end the stage %s", stage.Passes, sizes[stage.Until], stage.Shares[stage.Until], stage.Name)
		}
		s.before = append(s.before, s.drawn(s.from[n]+int(pairs)))
		s.from = append(s.from, s.from[n]+int(pairs))
	}
	return s, nil
}

// count returns how many of the first x pairs of the training are of a dataset, where x is in a
// stage, or at its end.
func (s *schedule) count(stage, source, x int) int {
	return s.before[stage][source] + int(float64(s.stages[stage].Shares[source]*float64(x-s.from[stage])))
}

// drawn returns how many of the first x pairs of the training are of each dataset.
func (s *schedule) drawn(x int) []int {
	stage := len(s.from) - 1
	for stage > 0 && s.from[stage] > x {
		stage--
	}
	counts := make([]int, len(s.before[0]))
	for i := range counts {
		counts[i] = s.count(stage, i, x)
	}
	return counts
}

// split calls do once for each stage that overlaps [x, y), with the overlap.
func (s *schedule) split(x, y int, do func(stage, x, y int) error) error {
	for n := range s.stages {
		end := y
		if n+1 < len(s.from) {
			end = min(y, s.from[n+1])
		}
		if from := max(x, s.from[n]); from < end {
			if err := do(n, from, end); err != nil {
				return err
			}
		}
	}
	return nil
}

// String describes the stages, for the fingerprint of a training.
func (s *schedule) String() string {
	var b strings.Builder
	for n, stage := range s.stages {
		fmt.Fprint(&b, s.from[n], stage.Shares, stage.Modifiers, ";")
	}
	return b.String()
}
