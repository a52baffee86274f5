// Package rewrite replaces matches of regular expressions in a text, rule after rule, with the
// offset of each character in the text before. It imports only the standard library.
package rewrite

import (
	"bytes"
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
	prefix      string // of all matches
	isLiteral   bool   // the prefix is all that matches
	needs       byteSet
	makes       byteSet // of the replacement
	replacement []replacementPart
}

// byteSet is a set of bytes: of all matches of a pattern, or a superset of those of a text. Most
// rules are not applied to most texts because they need others.
type byteSet [4]uint64

func addBytes[T string | []byte](set *byteSet, s T) {
	for i := range len(s) {
		set[s[i]>>6] |= 1 << (s[i] & 63)
	}
}

func (set *byteSet) union(other *byteSet) {
	for i := range set {
		set[i] |= other[i]
	}
}

func (set *byteSet) intersect(other *byteSet) {
	for i := range set {
		set[i] &= other[i]
	}
}

// lacks reports whether other has bytes that set lacks.
func (set *byteSet) lacks(other *byteSet) bool {
	return other[0]&^set[0]|other[1]&^set[1]|other[2]&^set[2]|other[3]&^set[3] != 0
}

// needed returns bytes that all matches of a pattern have. U+FFFD also matches invalid bytes.
func needed(r *syntax.Regexp) (set byteSet) {
	switch {
	case r.Op == syntax.OpLiteral && r.Flags&syntax.FoldCase == 0 && !slices.Contains(r.Rune, utf8.RuneError):
		addBytes(&set, string(r.Rune))
	case r.Op == syntax.OpConcat || r.Op == syntax.OpCapture || r.Op == syntax.OpPlus:
		for _, sub := range r.Sub {
			other := needed(sub)
			set.union(&other)
		}
	case r.Op == syntax.OpAlternate:
		set = needed(r.Sub[0])
		for _, sub := range r.Sub {
			other := needed(sub)
			set.intersect(&other)
		}
	}
	return set
}

// replacementPart is a group of the match, or text.
type replacementPart struct {
	group int // 0: text
	text  string
}

// rewritten is a text while rules replace their matches.
type rewritten struct {
	text   []byte
	origin []int // offset in the first text of each byte and of the end, or nil
	bytes  byteSet
	limit  int // of the length

	out       []byte // of the rule that is being applied
	outOrigin []int
	last      int // end of its last match
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
		var tree *syntax.Regexp
		if err == nil {
			tree, err = syntax.Parse(pattern, syntax.Perl)
		}
		if err != nil || !ok || !utf8.ValidString(s) || p.MatchString("") || hasCounts(tree) {
			return nil, fmt.Errorf("found rule %.80q, expected a regular expression without counts such as {2} that matches no empty text, a tab and its replacement", s)
		}
		r := rule{pattern: p, needs: needed(tree)}
		r.prefix, r.isLiteral = p.LiteralPrefix()
		r.isLiteral = r.isLiteral && p.NumSubexp() == 0
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
			addBytes(&r.makes, part.text)
			r.replacement = append(r.replacement, part)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// hasCounts reports whether a pattern repeats a part a number of times, which multiplies the memory
// for it by up to 1000.
func hasCounts(r *syntax.Regexp) bool {
	return r.Op == syntax.OpRepeat || slices.ContainsFunc(r.Sub, hasCounts)
}

// Apply returns s with the matches of rules replaced, and if wanted the offset in s of each byte of
// the result and of its end.
func (rules Rules) Apply(s string, wantOrigin bool) (string, []int) {
	t := rewritten{text: []byte(s), limit: maxGrowth*len(s) + MinLimit}
	addBytes(&t.bytes, s)
	if wantOrigin {
		t.origin = make([]int, len(s)+1)
		for i := range t.origin {
			t.origin[i] = i
		}
	}
	for i := range rules {
		if r := &rules[i]; !t.bytes.lacks(&r.needs) && bytes.Contains(t.text, []byte(r.prefix)) {
			t.apply(r)
		}
	}
	return string(t.text), t.origin
}

// apply applies a rule.
func (t *rewritten) apply(r *rule) {
	t.out, t.outOrigin, t.last = t.out[:0], t.outOrigin[:0], 0
	if r.isLiteral {
		for {
			i := bytes.Index(t.text[t.last:], []byte(r.prefix))
			if i < 0 {
				break
			}
			if i += t.last; !t.replace(r, []int{i, i + len(r.prefix)}) {
				return
			}
		}
	} else {
		for _, m := range r.pattern.FindAllSubmatchIndex(t.text, -1) {
			if !t.replace(r, m) {
				return
			}
		}
	}
	if t.last == 0 {
		return // no match
	}
	t.keep(t.last, len(t.text))
	t.text, t.out = t.out, t.text
	if t.origin != nil {
		t.outOrigin = append(t.outOrigin, t.origin[len(t.origin)-1])
		t.origin, t.outOrigin = t.outOrigin, t.origin
	}
	t.bytes.union(&r.makes)
}

// keep appends a part of the text.
func (t *rewritten) keep(from, to int) {
	t.out = append(t.out, t.text[from:to]...)
	if t.origin != nil {
		t.outOrigin = append(t.outOrigin, t.origin[from:to]...)
	}
}

// replace appends the text before a match, and its replacement. New text has the offset of the end
// of the group before it, or of the start of the match. It reports whether the limit is kept.
func (t *rewritten) replace(r *rule, match []int) bool {
	t.keep(t.last, match[0])
	at := match[0]
	for _, part := range r.replacement {
		if g := 2 * part.group; part.group > 0 {
			if match[g] >= 0 {
				t.keep(match[g], match[g+1])
				at = match[g+1]
			}
			continue
		}
		t.out = append(t.out, part.text...)
		for i := 0; t.origin != nil && i < len(part.text); i++ {
			t.outOrigin = append(t.outOrigin, t.origin[at])
		}
	}
	t.last = match[1]
	return len(t.out)+len(t.text)-t.last <= t.limit
}
