package clean

import "tfm/text"

// Fault is a reason to drop a pair. Each rule finds one kind. A pair is counted under the first
// fault in the order of the constants.
type Fault int

// The faults, in the order of their rules.
const (
	None           Fault = iota
	InvalidUTF8          // a side has bytes that are not UTF-8
	Columns              // a line of a TSV file has no tab or several
	Empty                // a side has no character other than white space
	Replacement          // U+FFFD, the trace of an earlier conversion
	Mojibake             // UTF-8 that was read as Latin-1 or Windows-1252
	Control              // control characters, private and unassigned ones
	Markup               // tags, entities, templates
	Length               // a side is too short or too long
	Copy                 // both sides have the same words
	WrongScript          // a side is mostly in a script that its side of the corpus does not have
	Repetition           // a word or phrase is repeated over and over, on one side only
	Ratio                // the ratio of the lengths is far from those of the corpus
	Numbers              // the sides have different numbers
	Duplicate            // an earlier pair is the same
	NearDuplicate        // an earlier pair is the same up to case, punctuation, digits, white space
	RepeatedSource       // enough earlier pairs have the same source
	RepeatedTarget       // enough earlier pairs have the same target
	Misaligned           // the words of one side do not translate those of the other
	numFaults
)

// NumFaults is the number of faults, None included.
const NumFaults = int(numFaults)

// faults are the properties of each fault. Rules without finds judge a pair among others: see
// repeatRules and lexical.
var faults = [NumFaults]struct {
	name, text string // for a file or a flag, and for people
	finds      func(*cleaner, *pair) bool
}{
	InvalidUTF8:    {"utf8", "invalid UTF-8", func(_ *cleaner, p *pair) bool { return p.Invalid }},
	Columns:        {"column-count", "not source, tab, target", func(_ *cleaner, p *pair) bool { return p.Columns != 2 }},
	Empty:          {"empty", "empty side", onEither(text.IsBlank)},
	Replacement:    {"replacement", "U+FFFD", onEither(hasReplacement)},
	Mojibake:       {"mojibake", "mojibake", onEither(isMojibake)},
	Control:        {"control", "control characters", onEither(hasControl)},
	Markup:         {"markup", "markup", onEither(hasMarkup)},
	Length:         {"length", "too short or too long", (*cleaner).length},
	Copy:           {"copies", "copy", (*cleaner).copied},
	WrongScript:    {"script", "wrong script", (*cleaner).wrongScript},
	Repetition:     {"repetition", "repetition", (*cleaner).repetition},
	Ratio:          {"ratio", "length ratio", (*cleaner).ratio},
	Numbers:        {"numbers", "different numbers", (*cleaner).numbers},
	Duplicate:      {"duplicates", "duplicate", nil},
	NearDuplicate:  {"near-duplicates", "near-duplicate", nil},
	RepeatedSource: {"per-source", "repeated source", nil},
	RepeatedTarget: {"per-target", "repeated target", nil},
	Misaligned:     {"misaligned", "misaligned", nil},
}

// onEither returns the rule of a fault of the text of a side.
func onEither(has func(s string) bool) func(*cleaner, *pair) bool {
	return func(_ *cleaner, p *pair) bool { return has(p.Source) || has(p.Target) }
}

// The first faults whose rules need the measures of a pair, what Clean learns from the corpus, and
// other pairs.
const (
	firstMeasured = Length
	firstLearned  = WrongScript
	firstAmong    = Duplicate
)

// String returns the name of f for a file or a flag, such as "near-duplicates".
func (f Fault) String() string { return faults[f].name }

// Text returns the name of f for people, such as "near-duplicate".
func (f Fault) Text() string { return faults[f].text }
