package cli

import (
	"encoding"
	"flag"
	"io"
	"runtime"
	"slices"
)

// Flags is the table of a command's flags, in the order in which they are declared: help, shells'
// completions and files of settings are made from it. Its methods declare flags as those of
// flag.FlagSet do.
type Flags struct {
	set   *flag.FlagSet
	list  []*Flag
	group string
}

// Flag is a flag of a command.
type Flag struct {
	*flag.Flag
	Group string // the heading under which it is shown
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

// Group puts the flags that are declared from here on under a heading, which may have flags
// already.
func (f *Flags) Group(title string) { f.group = title }

func (f *Flags) add(name string) {
	f.list = append(f.list, &Flag{f.set.Lookup(name), f.group})
}

// Var declares a flag whose value is v.
func (f *Flags) Var(v flag.Value, name, usage string) {
	f.set.Var(v, name, usage)
	f.add(name)
}

// StringVar declares a flag whose value is *p.
func (f *Flags) StringVar(p *string, name, value, usage string) {
	f.set.StringVar(p, name, value, usage)
	f.add(name)
}

// IntVar declares a flag whose value is *p.
func (f *Flags) IntVar(p *int, name string, value int, usage string) {
	f.set.IntVar(p, name, value, usage)
	f.add(name)
}

// Uint64Var declares a flag whose value is *p.
func (f *Flags) Uint64Var(p *uint64, name string, value uint64, usage string) {
	f.set.Uint64Var(p, name, value, usage)
	f.add(name)
}

// Float64Var declares a flag whose value is *p.
func (f *Flags) Float64Var(p *float64, name string, value float64, usage string) {
	f.set.Float64Var(p, name, value, usage)
	f.add(name)
}

// BoolVar declares a flag whose value is *p, and which may stand alone.
func (f *Flags) BoolVar(p *bool, name string, value bool, usage string) {
	f.set.BoolVar(p, name, value, usage)
	f.add(name)
}

// TextVar declares a flag whose value is *p.
func (f *Flags) TextVar(p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) {
	f.set.TextVar(p, name, value, usage)
	f.add(name)
}

// Func declares a flag that calls do with its value, each time that it is given.
func (f *Flags) Func(name, usage string, do func(string) error) {
	f.set.Func(name, usage, do)
	f.add(name)
}

// String declares a flag and returns where its value is.
func (f *Flags) String(name, value, usage string) *string {
	p := new(string)
	f.StringVar(p, name, value, usage)
	return p
}

// Int declares a flag and returns where its value is.
func (f *Flags) Int(name string, value int, usage string) *int {
	p := new(int)
	f.IntVar(p, name, value, usage)
	return p
}

// Bool declares a flag and returns where its value is.
func (f *Flags) Bool(name string, value bool, usage string) *bool {
	p := new(bool)
	f.BoolVar(p, name, value, usage)
	return p
}

// All returns the flags in the order of their declaration.
func (f *Flags) All() []*Flag { return slices.Clone(f.list) }

// Groups calls do for each heading, in the order in which they were first used, with its flags.
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

// Lookup returns the flag of that name, nil if there is none.
func (f *Flags) Lookup(name string) *flag.Flag { return f.set.Lookup(name) }

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

// ThreadsFlag declares -threads, whose default is the number of processors that Go uses.
func ThreadsFlag(f *Flags, n *int) {
	f.IntVar(n, "threads", runtime.GOMAXPROCS(0), "threads; the results do not depend on them")
}

// CheckThreads reports a number of threads out of range.
func CheckThreads(n int) error {
	if most := 4096; n < 1 || n > most {
		return Usagef("-threads %d: must be 1 to %d", n, most)
	}
	return nil
}
