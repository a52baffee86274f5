package clean

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

var faultNames = [NumFaults]string{"", "utf8", "columns", "empty", "replacement", "mojibake", "control", "markup", "length", "copies", "script",
	"repetition", "ratio", "numbers", "duplicates", "near-duplicates", "per-source", "per-target", "misaligned"}

var faultTexts = [NumFaults]string{"", "invalid UTF-8", "not source, tab, target", "empty side", "U+FFFD", "mojibake", "control characters", "markup",
	"too short or too long", "copy", "wrong script", "repetition", "length ratio", "different numbers", "duplicate", "near-duplicate", "repeated source",
	"repeated target", "misaligned"}

// String returns the name of f for a file or a flag, such as "near-duplicates".
func (f Fault) String() string { return faultNames[f] }

// Text returns the name of f for people, such as "near-duplicate".
func (f Fault) Text() string { return faultTexts[f] }

// Faults returns all faults in the order of their rules.
func Faults() []Fault {
	list := make([]Fault, 0, NumFaults-1)
	for f := None + 1; f < numFaults; f++ {
		list = append(list, f)
	}
	return list
}

// rules are the rules for a single pair, in their order. Those for several pairs follow them: see
// cleaner.judge.
var rules = []struct {
	fault Fault
	finds func(*cleaner, *pair) bool
}{
	{InvalidUTF8, (*cleaner).invalid},
	{Columns, (*cleaner).columns},
	{Empty, (*cleaner).empty},
	{Replacement, (*cleaner).replacement},
	{Mojibake, (*cleaner).mojibake},
	{Control, (*cleaner).control},
	{Markup, (*cleaner).markup},
	{Length, (*cleaner).length},
	{Copy, (*cleaner).copied},
	{WrongScript, (*cleaner).wrongScript},
	{Repetition, (*cleaner).repetition},
	{Ratio, (*cleaner).ratio},
	{Numbers, (*cleaner).numbers},
}

// measuredRules and learnedRules are the indices in rules of the first rule that needs the measures
// of a pair, and the first one that needs what Clean learns from the corpus.
const (
	measuredRules = 7
	learnedRules  = 9
)
