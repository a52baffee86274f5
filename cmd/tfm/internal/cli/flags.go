package cli

import (
	"encoding"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// Flags is the table of a command's flags, in the order of their declaration. Help, completion,
// suggestions and files of settings are made from it. Its methods declare flags as those of
// flag.FlagSet do. In a usage text a word in back quotes names the value; `file` and `folder` are
// completed as such.
type Flags struct {
	set   *flag.FlagSet
	list  []*Flag
	group string
	meant string // suggestion for the last value that a flag with choices refused
}

// Flag is a flag of a command.
type Flag struct {
	*flag.Flag
	Group string // heading in the help

	flags    *Flags
	target   any  // pointer to the value, or a Holder
	text     bool // declared by StringVar
	common   bool
	byPreset bool
	chosen   bool
	byModel  bool
	choices  []string
}

// Common marks a flag that most people need: if a command has such flags, its help shows only them
// unless all are asked for.
func (g *Flag) Common() *Flag {
	g.common = true
	return g
}

// ByPreset marks a flag whose default depends on the preset.
func (g *Flag) ByPreset() *Flag {
	g.byPreset = true
	return g
}

// Chosen marks a flag whose default is chosen from the input.
func (g *Flag) Chosen() *Flag {
	g.chosen = true
	return g
}

// ByModel marks a flag whose default is in the model file.
func (g *Flag) ByModel() *Flag {
	g.byModel = true
	return g
}

// Choices lists the values of the flag, for completion and suggestions. A flag of type string takes
// no others.
func (g *Flag) Choices(values ...string) *Flag {
	g.choices = values
	g.Value = &choiceValue{Value: g.Value, flag: g}
	return g
}

// firstGroup is the heading of flags that are declared before any Group.
const firstGroup = "Flags"

// NewFlags returns an empty table.
func NewFlags() *Flags {
	f := &Flags{set: flag.NewFlagSet("", flag.ContinueOnError), group: firstGroup}
	f.set.SetOutput(io.Discard)
	f.set.Usage = func() {}
	return f
}

// Group puts the flags that are declared next under a heading, which may already have flags.
func (f *Flags) Group(title string) { f.group = title }

func (f *Flags) add(name string, target any) *Flag {
	g := &Flag{Flag: f.set.Lookup(name), Group: f.group, flags: f, target: target}
	f.list = append(f.list, g)
	return g
}

// Var declares a flag whose value is v, a pointer to a variable or a Holder.
func (f *Flags) Var(v flag.Value, name, usage string) *Flag {
	f.set.Var(v, name, usage)
	return f.add(name, v)
}

// StringVar declares a flag whose value is *p.
func (f *Flags) StringVar(p *string, name, value, usage string) *Flag {
	f.set.StringVar(p, name, value, usage)
	g := f.add(name, p)
	g.text = true
	return g
}

// IntVar declares a flag whose value is *p.
func (f *Flags) IntVar(p *int, name string, value int, usage string) *Flag {
	f.set.IntVar(p, name, value, usage)
	return f.add(name, p)
}

// Uint64Var declares a flag whose value is *p.
func (f *Flags) Uint64Var(p *uint64, name string, value uint64, usage string) *Flag {
	f.set.Uint64Var(p, name, value, usage)
	return f.add(name, p)
}

// Float64Var declares a flag whose value is *p.
func (f *Flags) Float64Var(p *float64, name string, value float64, usage string) *Flag {
	f.set.Float64Var(p, name, value, usage)
	return f.add(name, p)
}

// BoolVar declares a flag whose value is *p, and which needs no value to be true.
func (f *Flags) BoolVar(p *bool, name string, value bool, usage string) *Flag {
	f.set.BoolVar(p, name, value, usage)
	return f.add(name, p)
}

// TextVar declares a flag whose value is *p.
func (f *Flags) TextVar(p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) *Flag {
	f.set.TextVar(p, name, value, usage)
	return f.add(name, p)
}

// Func declares a flag that calls do with each of its values.
func (f *Flags) Func(name, usage string, do func(string) error) *Flag {
	f.set.Func(name, usage, do)
	return f.add(name, nil)
}

// String declares a flag and returns a pointer to its value.
func (f *Flags) String(name, value, usage string) *string {
	p := new(string)
	f.StringVar(p, name, value, usage)
	return p
}

// Int declares a flag and returns a pointer to its value.
func (f *Flags) Int(name string, value int, usage string) *int {
	p := new(int)
	f.IntVar(p, name, value, usage)
	return p
}

// Bool declares a flag and returns a pointer to its value.
func (f *Flags) Bool(name string, value bool, usage string) *bool {
	p := new(bool)
	f.BoolVar(p, name, value, usage)
	return p
}

// All returns the flags in the order of their declaration.
func (f *Flags) All() []*Flag { return slices.Clone(f.list) }

// Groups calls do for each heading, in the order of first use, with its flags.
func (f *Flags) Groups(do func(title string, flags []*Flag)) {
	var titles []string
	groups := map[string][]*Flag{}
	for _, g := range f.list {
		if groups[g.Group] == nil {
			titles = append(titles, g.Group)
		}
		groups[g.Group] = append(groups[g.Group], g)
	}
	for _, title := range titles {
		do(title, groups[title])
	}
}

// Lookup returns the flag of that name, or nil.
func (f *Flags) Lookup(name string) *Flag {
	i := slices.IndexFunc(f.list, func(g *Flag) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return f.list[i]
}

// Names returns the names of the flags in the order of their declaration.
func (f *Flags) Names() []string {
	names := make([]string, len(f.list))
	for i, g := range f.list {
		names[i] = g.Name
	}
	return names
}

// Set gives a flag a value.
func (f *Flags) Set(name, value string) error { return f.set.Set(name, value) }

// Given returns the flags that have been set, with their values.
func (f *Flags) Given() map[string]string {
	values := map[string]string{}
	f.set.Visit(func(g *flag.Flag) { values[g.Name] = g.Value.String() })
	return values
}

// Values returns the values of all flags.
func (f *Flags) Values() map[string]string {
	values := map[string]string{}
	for _, g := range f.list {
		values[g.Name] = g.Value.String()
	}
	return values
}

// parse parses args and returns the arguments after the flags. Its errors are flag.ErrHelp and
// UsageErrors.
func (f *Flags) parse(args []string) ([]string, error) {
	err := f.set.Parse(args)
	if err == nil || err == flag.ErrHelp {
		return f.set.Args(), err
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		u := UsageError{Message: fmt.Sprintf("unknown flag -%s", name)}
		if meant := Nearest(name, f.Names()); meant != "" {
			u.Meant = "-" + meant
		}
		return nil, u
	}
	return nil, UsageError{Message: f.withType(err.Error()), Meant: f.meant}
}

// withType replaces the "parse error" of package flag by the type that the flag expects.
func (f *Flags) withType(message string) string {
	rest, ok := strings.CutSuffix(message, ": parse error")
	if !ok {
		return message
	}
	_, name, ok := strings.Cut(rest, "\" for flag -")
	if !ok { // a bool
		_, name, _ = strings.Cut(rest, "\" for -")
	}
	g := f.Lookup(name)
	if g == nil {
		return message
	}
	expected := "a number, without commas"
	switch kind, _ := g.usage(); {
	case isBool(g.Value):
		expected = "true or false"
	case kind == "N":
		expected = "a whole number, without commas"
	}
	return rest + ": expected " + expected
}

func isBool(v flag.Value) bool {
	b, ok := v.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// ThreadsFlag declares -threads, whose default is the number of processors that Go uses.
func ThreadsFlag(f *Flags, n *int) *Flag {
	return f.IntVar(n, "threads", runtime.GOMAXPROCS(0), "threads to compute on; results do not depend on them")
}

// CheckThreads reports a number of threads out of range.
func CheckThreads(n int) error {
	if limit := 4096; n < 1 || n > limit {
		return Usagef("-threads %d: must be 1 to %d", n, limit)
	}
	return nil
}
