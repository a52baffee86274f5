package lang

import "slices"

// match returns how well the language has answers a request for want, 0 for not at all. A language
// without a script is in its usual one. A request without a script or a region prefers a language
// without one, then one in the usual script.
func (want Tag) match(has Tag) int {
	if want.Language == "" || want.Language != has.Language {
		return 0
	}
	score := 1
	switch {
	case want.Script == has.Script:
		score += 4
	case want.Script == "" && has.Script == usualScripts[has.Language], has.Script == "" && want.Script == usualScripts[want.Language]:
		score += 2
	case want.Script != "" && has.Script != "", has.Script == "" && usualScripts[has.Language] != "":
		return 0 // another script
	}
	switch {
	case want.Region == has.Region:
		score += 2
	case has.Region == "":
		score++
	case want.Region != "":
		return 0 // another region
	}
	return score
}

// Best returns the indices of the codes that best answer a request for code: none, one, or several
// that are equally good.
func Best(code string, among []string) (found []int) {
	want, best := Parse(code), 0
	for i, x := range among {
		if n := want.match(Parse(x)); n > best {
			found, best = []int{i}, n
		} else if n == best && n > 0 {
			found = append(found, i)
		}
	}
	return found
}

// Is reports whether a language answers a request for code.
func Is(code, language string) bool { return Parse(code).match(Parse(language)) > 0 }

// Same reports whether texts in t and other may be in one language: neither names another language,
// script or region than the other. A Tag without a script may be in any.
func (t Tag) Same(other Tag) bool { return t.match(other) > 0 || other.match(t) > 0 }

// Differ reports whether two codes name languages of ISO 639-1 that differ by more than script,
// region or dialect.
func Differ(a, b string) bool {
	var languages [2]string
	for i, code := range []string{a, b} {
		l := Parse(code).Language
		if shortCodes[l] == "" {
			return false
		}
		if languages[i] = l; l == "nno" { // no may be either
			languages[i] = "nor"
		}
	}
	return languages[0] != languages[1]
}

// closeLanguages are languages that sentences without their few differences do not tell apart.
var closeLanguages = [][]string{{"bs", "hr", "sr-Latn"}, {"id", "ms"}, {"da", "nb", "nn"}, {"zh", "zh-Hant"}, {"xh", "zu"}}

// Close returns a tag and those of the languages whose sentences resemble its own.
func Close(tag string) []string {
	for _, group := range closeLanguages {
		if slices.Contains(group, tag) {
			return group
		}
	}
	return []string{tag}
}
