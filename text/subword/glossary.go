package subword

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Limits of the glossaries, which a model file contains, so that neither their memory nor the time
// of matching is much larger than that of the text.
const (
	maxGlossaries = 100
	maxGlossary   = 1000   // bytes
	maxNodes      = 10_000 // of all expressions, with the repetitions of {n}
)

// WithGlossaries returns codes that never split the text that the regular expressions match, nor
// merge it with other text. It fails for an expression that matches the empty text.
func (c *Codes) WithGlossaries(expressions []string) (*Codes, error) {
	if len(expressions) == 0 {
		return c, nil
	}
	if len(expressions) > maxGlossaries {
		return nil, fmt.Errorf("%d glossaries, expected up to %d", len(expressions), maxGlossaries)
	}
	with := *c
	with.glossaries, with.glossary = slices.Clone(expressions), nil
	nodes := 0
	for _, x := range expressions {
		if len(x) > maxGlossary {
			return nil, fmt.Errorf("glossary of %d bytes, expected up to %d", len(x), maxGlossary)
		}
		parsed, err := syntax.Parse(x, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("glossary %q: %w", x, err)
		}
		if nodes += countNodes(parsed); nodes > maxNodes {
			return nil, fmt.Errorf("glossary %q repeats too much, expected up to %d elements of all glossaries", x, maxNodes)
		}
		re, err := regexp.Compile(x)
		if err != nil {
			return nil, fmt.Errorf("glossary %q: %w", x, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("glossary %q matches the empty text", x)
		}
		with.glossary = append(with.glossary, re)
	}
	whole, err := regexp.Compile("^(?:(?:" + strings.Join(expressions, ")|(?:") + "))$")
	if err != nil {
		return nil, fmt.Errorf("glossaries %q: %w", expressions, err)
	}
	with.whole = whole
	return &with, nil
}

// countNodes returns the number of elements of an expression in which repetitions are written out,
// up to a little more than maxNodes.
func countNodes(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += countNodes(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxNodes+1)
}

// isolate appends the ends of the parts of word that the glossaries separate.
func (c *Codes) isolate(ends []int, word string) []int {
	ends = append(ends, len(word))
	for _, re := range c.glossary {
		var next []int
		begin := 0
		for _, end := range ends {
			part := word[begin:end]
			if at := re.FindStringIndex(part); at == nil || at[0] > 0 || at[1] < len(part) {
				for _, m := range re.FindAllStringIndex(part, -1) {
					if m[0] > 0 && (len(next) == 0 || next[len(next)-1] < begin+m[0]) {
						next = append(next, begin+m[0])
					}
					if m[1] < len(part) && m[1] > m[0] {
						next = append(next, begin+m[1])
					}
				}
			}
			next = append(next, end)
			begin = end
		}
		ends = next
	}
	return ends
}
