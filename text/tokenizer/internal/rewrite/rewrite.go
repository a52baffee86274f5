// Package rewrite replaces matches of regular expressions in a text, rule after rule, with the
// offset of each character in the text before. It imports only the standard library.
package rewrite

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxRules = 1000
	// maxBytes limits the memory of all rules to about 30 MB, which classes such as \pL need.
	maxBytes = 1 << 14
	// maxGrowth limits the length of a text to this multiple of what it was, plus MinLimit. A rule
	// that exceeds it is not applied.
	maxGrowth = 8
	MinLimit  = 1 << 10 // bytes that a text can always grow to
)

// Rules are applied one after another. They are immutable and safe for concurrent use.
type Rules []rule

type rule struct {
	pattern     *regexp.Regexp
	literal     string // the pattern, or "" if it is not only text
	replacement []replacementPart
}

// replacementPart is a group of the match, or text.
type replacementPart struct {
	group int // 0: text
	text  string
}

// rewritten is a text while rules replace their matches.
type rewritten struct {
	text   string
	origin []int // offset in the first text of each byte and of the end, or nil
	limit  int   // of the length
}

// template separates the parts of a replacement.
var template = regexp.MustCompile(`\$[1-9]|\$\$|[^$]+|\$`)

// Parse returns the rules of a list. Each is a regular expression of package regexp that matches no
// empty text, a tab, and its replacement, in which $1 to $9 are groups and $$ is $.
func Parse(list []string) (rules Rules, err error) {
	if len(list) > maxRules {
		return nil, fmt.Errorf("found %d rules, expected at most %d", len(list), maxRules)
	}
	if n := len(strings.Join(list, "")); n > maxBytes {
		return nil, fmt.Errorf("found rules of %d bytes, expected at most %d", n, maxBytes)
	}
	for _, s := range list {
		pattern, to, ok := strings.Cut(s, "\t")
		p, err := regexp.Compile(pattern)
		if err != nil || !ok || !utf8.ValidString(s) || p.MatchString("") || hasCounts(pattern) {
			return nil, fmt.Errorf("found rule %.80q, expected a regular expression without counts such as {2} that matches no empty text, a tab and its replacement", s)
		}
		r := rule{pattern: p}
		if literal, complete := p.LiteralPrefix(); complete {
			r.literal = literal
		}
		for _, s := range template.FindAllString(to, -1) {
			part := replacementPart{text: s}
			switch {
			case s == "$$":
				part.text = "$"
			case s[0] == '$':
				if part.group = int(s[len(s)-1] - '0'); len(s) < 2 || part.group > p.NumSubexp() {
					return nil, fmt.Errorf("found replacement %.80q of rule %.80q, expected $1 to $%d, or $$", to, pattern, p.NumSubexp())
				}
			}
			r.replacement = append(r.replacement, part)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// hasCounts reports whether a valid pattern repeats a part a number of times, which multiplies the
// memory for it by up to 1000.
func hasCounts(pattern string) bool {
	tree, _ := syntax.Parse(pattern, syntax.Perl)
	var visit func(*syntax.Regexp) bool
	visit = func(r *syntax.Regexp) bool { return r.Op == syntax.OpRepeat || slices.ContainsFunc(r.Sub, visit) }
	return visit(tree)
}

// Apply returns s with the matches of rules replaced, and if wanted the offset in s of each byte of
// the result and of its end.
func (rules Rules) Apply(s string, wantOrigin bool) (string, []int) {
	t := rewritten{text: s, limit: maxGrowth*len(s) + MinLimit}
	if wantOrigin {
		t.origin = make([]int, len(s)+1)
		for i := range t.origin {
			t.origin[i] = i
		}
	}
	for i := range rules {
		if strings.Contains(t.text, rules[i].literal) {
			t.apply(&rules[i])
		}
	}
	return t.text, t.origin
}

// apply applies a rule. New text has the offset of the end of the group before it, or of the start
// of the match.
func (t *rewritten) apply(r *rule) {
	matches := r.pattern.FindAllStringSubmatchIndex(t.text, -1)
	if matches == nil {
		return
	}
	var out []byte
	var origin []int
	keep := func(from, to int) {
		out = append(out, t.text[from:to]...)
		if t.origin != nil {
			origin = append(origin, t.origin[from:to]...)
		}
	}
	last := 0
	for _, m := range matches {
		keep(last, m[0])
		at := m[0]
		for _, part := range r.replacement {
			if g := 2 * part.group; part.group > 0 {
				if m[g] >= 0 {
					keep(m[g], m[g+1])
					at = m[g+1]
				}
				continue
			}
			out = append(out, part.text...)
			for i := 0; t.origin != nil && i < len(part.text); i++ {
				origin = append(origin, t.origin[at])
			}
		}
		last = m[1]
		if len(out)+len(t.text)-last > t.limit {
			return
		}
	}
	keep(last, len(t.text))
	if t.text = string(out); t.origin != nil {
		t.origin = append(origin, t.origin[len(t.origin)-1])
	}
}
