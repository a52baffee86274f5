// Package augment changes sentence pairs at random, so that a model learns what its corpus lacks:
// capitals, missing full stops, typing errors, several sentences together, and tokens to copy.
// Names and settings of the modifiers are those of OpusTrainer (Bogoychev et al., 2023,
// "OpusCleaner and OpusTrainer"); Copy is its Tags without terminology.
//
// The files:
//
//	augment.go   Modifiers and how they apply
//	surface.go   UpperCase, TitleCase, RemoveEndPunct
//	typos.go     Typos
//	copy.go      Copy
package augment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/script"
)

// Modifier changes a share of the pairs.
type Modifier struct {
	Name        string
	Probability float64 // of a pair
	kind        kind
	numbers     map[string]float64
}

// kind is what modifiers of a name have in common.
type kind struct {
	numbers map[string]float64                            // settings with their defaults
	change  func(m *Modifier, r *rand.Rand, p *text.Pair) // nil for Merge
}

var kinds = map[string]kind{
	"UpperCase":      {change: upperCase},
	"TitleCase":      {change: titleCase},
	"RemoveEndPunct": {change: removeEndPunctuation},
	"Typos":          {change: typos, numbers: typoClasses},
	"Merge":          {numbers: map[string]float64{"min_lines": 2, "max_lines": 4}},
	"Copy":           {change: copied, numbers: map[string]float64{"min_word_length": 2, "max_word_length": 5}},
}

// String returns name, probability and settings.
func (m Modifier) String() string {
	return fmt.Sprintf("%s %v %v", m.Name, m.Probability, m.numbers)
}

// Names returns the names of the modifiers.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// New returns the modifier of a name, with settings as OpusTrainer has them and its defaults for
// the others. Typos without settings has all classes, else those that are set.
func New(name string, probability float64, settings map[string]string) (Modifier, error) {
	k, ok := kinds[name]
	if !ok {
		return Modifier{}, fmt.Errorf("found the modifier %s, expected one of %s", name, strings.Join(Names(), ", "))
	}
	if !(probability >= 0 && probability <= 1) {
		return Modifier{}, fmt.Errorf("found the probability %v of %s, expected 0 to 1", probability, name)
	}
	m := Modifier{Name: name, Probability: probability, kind: k, numbers: maps.Clone(k.numbers)}
	if name == "Typos" && len(settings) > 0 {
		clear(m.numbers)
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		value := settings[key]
		if _, ok := k.numbers[key]; !ok {
			return m, fmt.Errorf("found the setting %s of %s, expected %s", key, name, k.settings())
		}
		limit := 1000.0
		if name == "Typos" { // probabilities
			limit = 1
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x <= limit) {
			return m, fmt.Errorf("found %s: %q, expected a number from 0 to %v", key, value, limit)
		}
		m.numbers[key] = x
	}
	for _, key := range slices.Sorted(maps.Keys(m.numbers)) {
		if least := strings.Replace(key, "max_", "min_", 1); least != key && m.numbers[least] > m.numbers[key] {
			return m, fmt.Errorf("found %s: %v, expected at most %s, %v", least, m.numbers[least], key, m.numbers[key])
		}
	}
	return m, nil
}

// settings names the settings.
func (k kind) settings() string {
	names := slices.Sorted(maps.Keys(k.numbers))
	if len(names) == 0 {
		return "none"
	}
	return "one of " + strings.Join(names, ", ")
}

// between draws a whole number above 0 from the setting min_NAME to max_NAME.
func (m *Modifier) between(r *rand.Rand, name string) int {
	least := max(1, int(m.numbers["min_"+name]))
	return least + r.IntN(max(1, int(m.numbers["max_"+name])-least+1))
}

// Apply returns p after the modifiers in order, each with its probability. next returns a further
// pair for Merge, or false. The draws are those of r. The strings of p and of next need to be valid
// only until the next call of next.
func Apply(list []Modifier, r *rand.Rand, p text.Pair, next func() (text.Pair, bool)) text.Pair {
	for i := range list {
		m := &list[i]
		if r.Float64() >= m.Probability {
			continue
		}
		if m.kind.change != nil {
			m.kind.change(m, r, &p)
			continue
		}
		p.Source, p.Target = strings.Clone(p.Source), strings.Clone(p.Target)
		for range m.between(r, "lines") - 1 {
			further, ok := next()
			if !ok {
				break
			}
			for k := range list[:i] {
				if earlier := &list[k]; earlier.kind.change != nil && r.Float64() < earlier.Probability {
					earlier.kind.change(earlier, r, &further)
				}
			}
			p.Source, p.Target = join(p.Source, further.Source), join(p.Target, further.Target)
		}
	}
	return p
}

// join returns two sentences as one text, with a space between them unless the second begins with a
// character of a script without spaces.
func join(a, b string) string {
	first, _ := utf8.DecodeRuneInString(b)
	if a == "" || b == "" || script.OfUnspaced(first) != script.None {
		return a + b
	}
	return a + " " + b
}
