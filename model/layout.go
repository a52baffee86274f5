package model

import (
	"fmt"
	"slices"
	"strings"
)

// SourceLayout is the order of the tokens of a source, as names with spaces between them: text, the
// tokens of the text; bos and eos, BOS and EOS; from and to, those of its language and of the
// target's. "" is EOSLast. The constants are all that are valid.
type SourceLayout string

// The layouts, with the systems that have them.
const (
	EOSLast   SourceLayout = ""     // text eos
	NoMarks   SourceLayout = "text" // an empty source is EOS (OpenNMT)
	BOSFirst  SourceLayout = "bos text"
	BOSAndEOS SourceLayout = "bos text eos"  // fairseq's BART
	ToFirst   SourceLayout = "to text eos"   // >>fra<< of OPUS-MT and of trainings here
	FromFirst SourceLayout = "from text eos" // M2M-100, NLLB-200
	FromLast  SourceLayout = "text eos from" // NLLB-200 in its first form
	ToText    SourceLayout = "to text"       // OPUS-MT without an end
)

// layoutName is a layout with its name in files. The first four have names of their own.
type layoutName struct {
	layout SourceLayout
	name   string
}

// layouts are the valid ones.
var layouts = []layoutName{
	{EOSLast, "eos"}, {NoMarks, "none"}, {BOSFirst, "bos"}, {BOSAndEOS, "both"},
	{ToFirst, string(ToFirst)}, {FromFirst, string(FromFirst)}, {FromLast, string(FromLast)}, {ToText, string(ToText)},
}

// String returns the names of the tokens in order.
func (l SourceLayout) String() string {
	if l == EOSLast {
		return "text eos"
	}
	return string(l)
}

func (l SourceLayout) MarshalText() ([]byte, error) {
	for _, x := range layouts {
		if x.layout == l {
			return []byte(x.name), nil
		}
	}
	return nil, fmt.Errorf("found %q, expected %s", l, layoutNames())
}

func (l *SourceLayout) UnmarshalText(text []byte) error {
	for _, x := range layouts {
		if x.name == string(text) {
			*l = x.layout
			return nil
		}
	}
	return fmt.Errorf("%.80q is not one of %s", text, layoutNames())
}

func layoutNames() string {
	var names []string
	for _, x := range layouts {
		names = append(names, x.name)
	}
	return strings.Join(names, ", ")
}

// HasBOS reports whether a source begins with BOS.
func (l SourceLayout) HasBOS() bool { return strings.HasPrefix(string(l), "bos ") }

// HasEOS reports whether a source ends with EOS.
func (l SourceLayout) HasEOS() bool { return l == EOSLast || strings.HasSuffix(string(l), " eos") }

// Marks returns the number of BOS and EOS around a source that is not empty.
func (l SourceLayout) Marks() (n int) {
	if l.HasBOS() {
		n++
	}
	if l.HasEOS() {
		n++
	}
	return n
}

// Description describes the layout for 'tfm info', "" for EOSLast.
func (l SourceLayout) Description() string {
	return strings.NewReplacer("bos", "BOS", "eos", "EOS", "from", "its language", "to", "the target's language").Replace(strings.ReplaceAll(string(l), " ", ", "))
}

// has reports whether a name is in the layout.
func (l SourceLayout) has(name string) bool {
	return slices.Contains(strings.Fields(l.String()), name)
}

// Append appends a source with BOS at its begin and EOS at its end, if it has them, to ids, at
// least one token. src is what AppendSource returns.
func (l SourceLayout) Append(ids, src []int32) []int32 {
	if l.HasBOS() {
		ids = append(ids, BOS)
	}
	ids = append(ids, src...)
	if l.HasEOS() || !l.HasBOS() && len(src) == 0 {
		ids = append(ids, EOS)
	}
	return ids
}

// Around returns the tokens before and after a text, given those of the languages, without a BOS
// at the begin and an EOS at the end, which a model adds itself: a source of package decode is
// before, the text and after.
func (l SourceLayout) Around(from, to []int32) (before, after []int32) {
	names := strings.Fields(l.String())
	if l.HasBOS() {
		names = names[1:]
	}
	if l.HasEOS() {
		names = names[:len(names)-1]
	}
	side := &before
	for _, name := range names {
		switch name {
		case "text":
			side = &after
		case "from":
			*side = append(*side, from...)
		case "to":
			*side = append(*side, to...)
		case "eos":
			*side = append(*side, EOS)
		}
	}
	return before, after
}
