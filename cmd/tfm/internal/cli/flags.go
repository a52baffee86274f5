package cli

import (
	"encoding"
	"flag"
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

// Range limits the values of a flag of IntVar.
func (g *Flag) Range(lo, hi int) *Flag {
	v := g.Value.(*number[int])
	v.limited, v.lo, v.hi = true, lo, hi
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

// number declares a flag whose value v sets *p.
func (f *Flags) number(p any, v flag.Value, name, usage string) *Flag {
	f.set.Var(v, name, usage)
	return f.add(name, p)
}

// IntVar declares a flag whose value is *p.
func (f *Flags) IntVar(p *int, name string, value int, usage string) *Flag {
	return f.number(p, newInteger(p, value), name, usage)
}

// Uint64Var declares a flag whose value is *p.
func (f *Flags) Uint64Var(p *uint64, name string, value uint64, usage string) *Flag {
	return f.number(p, newUnsigned(p, value), name, usage)
}

// Float64Var declares a flag whose value is *p.
func (f *Flags) Float64Var(p *float64, name string, value float64, usage string) *Flag {
	return f.number(p, newFloat(p, value), name, usage)
}

// BoolVar declares a flag whose value is *p, and which needs no value to be true.
func (f *Flags) BoolVar(p *bool, name string, value bool, usage string) *Flag {
	*p = value
	f.set.Var((*boolValue)(p), name, usage)
	return f.add(name, p)
}

// TextVar declares a flag whose value is *p.
func (f *Flags) TextVar(p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) *Flag {
	f.set.TextVar(p, name, value, usage)
	return f.add(name, p)
}

// StringsVar declares a flag whose values, one for each time that it is given, are appended to *p.
func (f *Flags) StringsVar(p *[]string, name, usage string) *Flag {
	return f.Func(name, usage, func(s string) error {
		*p = append(*p, s)
		return nil
	})
}

// Func declares a flag that calls do with each of its values.
func (f *Flags) Func(name, usage string, do func(string) error) *Flag {
	f.set.Func(name, usage, do)
	return f.add(name, nil)
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

// parse parses args, in the syntax of package flag, and returns the arguments after the flags. Its
// errors are flag.ErrHelp and UsageErrors.
func (f *Flags) parse(args []string) (rest []string, err error) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		name, value, assigned := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		g := f.Lookup(name)
		switch {
		case g == nil && (name == "h" || name == "help"):
			return nil, flag.ErrHelp
		case g == nil:
			return nil, f.unknown(name)
		case assigned:
		case g.isBool():
			value = "true"
		case len(args) == 0:
			return nil, Usagef("flag -%s: found no value after it", name)
		default:
			value, args = args[0], args[1:]
		}
		if err := f.Set(name, value); err != nil {
			return nil, f.Refused(err, "invalid value %q for flag -%s", value, name)
		}
	}
	return args, nil
}

// unknown returns the error of a flag that does not exist.
func (f *Flags) unknown(name string) error {
	u := UsageError{Message: "unknown flag -" + name}
	if meant := Nearest(name, f.Names()); meant != "" {
		u.Meant = "-" + meant
	}
	return u
}

// isBool reports whether the flag needs no value.
func (g *Flag) isBool() bool {
	b, ok := g.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// maxThreads limits -threads.
const maxThreads = 4096

// ThreadsFlag declares -threads, whose default is the number of processors that Go uses.
func ThreadsFlag(f *Flags, n *int) *Flag {
	return f.IntVar(n, "threads", runtime.GOMAXPROCS(0), "threads to compute on; results do not depend on them").Range(1, maxThreads)
}
