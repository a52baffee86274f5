package cli

import (
	"encoding"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flags is the table of a command's flags, in the order of their declaration. Help, completion,
// suggestions and files of settings are made from it. Its methods declare flags as those of
// flag.FlagSet do. In a usage text a word in back quotes names the value; `file` and `folder` are
// completed as such.
type Flags struct {
	list  []*Flag
	group string
	modes []string // of the flags that are declared next
}

// Flag is a flag of a command.
type Flag struct {
	*flag.Flag
	Group string // heading in the help

	placeholder string // of the value in the help, unless the usage names it; "" for a switch
	target      any    // pointer to the value
	given       bool   // Set has been called
	text        bool   // declared by StringVar
	common      bool
	setting     bool // given by -set, not by its name
	action      bool // neither -set nor a settings file has it
	assigns     bool // -set
	traits      Trait
	modes       []string // of the command in which the flag applies; none is all
	needs, not  []string // flags
	defaultText string   // of the default in the help; "" is its value
	choices     []string
	aliases     []string
	more        func(next string) bool // the argument is another value
}

// Common marks a flag that most people need: if a command has such flags, its help shows only them
// unless all are asked for.
func (g *Flag) Common() *Flag {
	g.common = true
	return g
}

// Setting takes the flag off the command line: it is given as -set NAME=VALUE.
func (g *Flag) Setting() *Flag {
	g.setting = true
	if g.placeholder == noValue {
		g.placeholder = boolValueName
	}
	return g
}

// IsSetting reports whether Setting has been called.
func (g *Flag) IsSetting() bool { return g.setting }

// Action marks a flag that is not the value of a setting: neither -set nor a settings file has it.
func (g *Flag) Action() *Flag {
	g.action = true
	return g
}

// IsAction reports whether Action has been called.
func (g *Flag) IsAction() bool { return g.action }

// Trait is a set of properties of a flag that a command defines.
type Trait int

// With adds traits.
func (g *Flag) With(t Trait) *Flag {
	g.traits |= t
	return g
}

// Has reports whether the flag has all traits of t.
func (g *Flag) Has(t Trait) bool { return g.traits&t == t }

// Needs makes the flag an error without one of others.
func (g *Flag) Needs(others ...string) *Flag {
	g.needs = others
	return g
}

// Needed returns the flags of which Needs wants one.
func (g *Flag) Needed() []string { return g.needs }

// Not makes the flag an error beside one of others, and of those of earlier calls.
func (g *Flag) Not(others ...string) *Flag {
	g.not = append(g.not, others...)
	return g
}

// Label returns the name as it is typed and as errors have it: with a dash, unless it is a setting.
func (g *Flag) Label() string {
	if g.setting {
		return g.Name
	}
	return "-" + g.Name
}

// Word returns the argument, or two, that gives the flag a value.
func (g *Flag) Word(value string) string {
	if g.setting {
		return "-set " + ShellWord(g.Name+"="+value)
	}
	return ShellWord("-" + g.Name + "=" + value)
}

// Default sets what the help shows as the default, of a flag whose default is not one value.
func (g *Flag) Default(text string) *Flag {
	g.defaultText = text
	return g
}

// Choices lists the values of the flag, for completion and suggestions. A flag of type string takes
// no others.
func (g *Flag) Choices(values ...string) *Flag {
	g.choices = values
	if g.placeholder == anyValue {
		g.placeholder = "NAME"
	}
	return g
}

// Alias adds names that the help does not show.
func (g *Flag) Alias(names ...string) *Flag {
	g.aliases = names
	return g
}

// More makes the flag take the arguments after its value as more values, up to the first for which
// more is false.
func (g *Flag) More(more func(next string) bool) *Flag {
	g.more = more
	return g
}

// Range limits the values of a flag of IntVar.
func (g *Flag) Range(lo, hi int) *Flag {
	g.Value = limited{g.Value.(*value[int]), lo, hi}
	return g
}

// firstGroup is the heading of flags that are declared before any Group.
const firstGroup = "Flags"

// NewFlags returns an empty table.
func NewFlags() *Flags { return &Flags{group: firstGroup} }

// Group puts the flags that are declared next under a heading, which may already have flags.
func (f *Flags) Group(title string) { f.group = title }

// Modes makes the flags that are declared next apply in some modes of the command only; none is all
// of them. The name of a mode is that of the flag that selects it, "" for the one without.
func (f *Flags) Modes(names ...string) { f.modes = names }

// isSet reports whether a flag is given, and is not a switch that is off.
func (g *Flag) isSet() bool { return g.given && !(g.isBool() && g.Value.String() == "false") }

// AppliesIn reports whether the flag applies in a mode.
func (g *Flag) AppliesIn(mode string) bool { return g.modes == nil || slices.Contains(g.modes, mode) }

// CheckModes reports flags that do not apply in a mode, and those that exclude or need each other.
func (f *Flags) CheckModes(mode string) error {
	given := func(name string) bool { return f.Lookup(name).isSet() }
	for _, g := range f.list {
		if !g.isSet() {
			continue
		}
		if i := slices.IndexFunc(g.not, given); i >= 0 {
			return Usagef("either %s or %s", g.Label(), f.Lookup(g.not[i]).Label())
		}
		if len(g.needs) > 0 && !slices.ContainsFunc(g.needs, given) {
			return Usagef("%s needs -%s", g.Label(), strings.Join(g.needs, " or -"))
		}
		if g.AppliesIn(mode) {
			continue
		}
		if only := g.modes[0]; len(g.modes) == 1 && !given(only) {
			return Usagef("%s needs -%s", g.Label(), only)
		}
		return Usagef("either -%s or %s", mode, g.Label())
	}
	return nil
}

// The placeholders of values.
const (
	noValue     = ""
	anyValue    = "X"
	numberValue = "N"
	nameValue   = "NAME"

	boolValueName = "BOOL" // of a setting, which needs one
)

// add declares a flag.
func (f *Flags) add(v flag.Value, name, usage, placeholder string, target any) *Flag {
	g := &Flag{
		Flag:        &flag.Flag{Name: name, Usage: usage, Value: v, DefValue: v.String()},
		Group:       f.group,
		modes:       f.modes,
		placeholder: placeholder,
		target:      target,
	}
	if g.isBool() {
		g.placeholder = noValue
	}
	f.list = append(f.list, g)
	return g
}

// Var declares a flag whose value is v, a pointer to a variable.
func (f *Flags) Var(v flag.Value, name, usage string) *Flag {
	return f.add(v, name, usage, anyValue, v)
}

// StringVar declares a flag whose value is *p.
func (f *Flags) StringVar(p *string, name, value, usage string) *Flag {
	*p = value
	g := f.add(newString(p), name, usage, nameValue, p)
	g.text = true
	return g
}

// IntVar declares a flag whose value is *p.
func (f *Flags) IntVar(p *int, name string, value int, usage string) *Flag {
	*p = value
	return f.add(newInt(p), name, usage, numberValue, p)
}

// Uint64Var declares a flag whose value is *p.
func (f *Flags) Uint64Var(p *uint64, name string, value uint64, usage string) *Flag {
	*p = value
	return f.add(newUint64(p), name, usage, numberValue, p)
}

// Float64Var declares a flag whose value is *p.
func (f *Flags) Float64Var(p *float64, name string, value float64, usage string) *Flag {
	*p = value
	return f.add(newFloat64(p), name, usage, anyValue, p)
}

// Float32Var declares a flag whose value is *p, which has its default.
func (f *Flags) Float32Var(p *float32, name, usage string) *Flag {
	return f.add(newFloat32(p), name, usage, anyValue, p)
}

// DurationVar declares a flag whose value is *p, which has its default.
func (f *Flags) DurationVar(p *time.Duration, name, usage string) *Flag {
	return f.add(newDuration(p), name, usage, anyValue, p)
}

// BoolVar declares a flag whose value is *p, and which needs no value to be true.
func (f *Flags) BoolVar(p *bool, name string, value bool, usage string) *Flag {
	*p = value
	return f.Var((*boolValue)(p), name, usage)
}

// TextVar declares a flag whose value is *p.
func (f *Flags) TextVar(p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) *Flag {
	reflect.ValueOf(p).Elem().Set(reflect.ValueOf(value))
	return f.add(textValue{p}, name, usage, anyValue, p)
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
	return f.add(funcValue(do), name, usage, anyValue, nil)
}

// declareSet declares -set, which gives values to all flags but actions, if there are settings.
func (f *Flags) declareSet() {
	if len(f.settings()) == 0 {
		return
	}
	f.modes = nil
	g := f.Func("set", "`name=value` of a setting, from the list at the end; repeat it for more", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value) // as in a settings file
		if !ok || name == "" {
			return errors.New("expected name=value")
		}
		switch g := f.Lookup(name); {
		case g == nil:
			return UsageError{Message: fmt.Sprintf("-set %s: unknown setting %s", s, name), Meant: Nearest(name, f.Names())}
		case g.action:
			return Usagef("-set %s: %s is not a setting, only a flag of the command line", s, name)
		}
		return f.Set(name, value)
	})
	g.action, g.assigns = true, true
}

// RemoveFunc removes flags that are declared, so that another command can have the others.
func (f *Flags) RemoveFunc(which func(*Flag) bool) { f.list = slices.DeleteFunc(f.list, which) }

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

// Lookup returns the flag of that name or alias, or nil.
func (f *Flags) Lookup(name string) *Flag {
	i := slices.IndexFunc(f.list, func(g *Flag) bool { return g.Name == name || slices.Contains(g.aliases, name) })
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

// maxListed limits the choices that an error lists beside a suggestion.
const maxListed = 8

// Set gives a flag a value. It returns a UsageError with the name, the value and the valid values.
func (f *Flags) Set(name, value string) error {
	g := f.Lookup(name)
	if g == nil {
		return f.unknown(name)
	}
	var err error
	if !g.text || g.choices == nil || value == g.DefValue || slices.Contains(g.choices, value) {
		if err = g.Value.Set(value); err == nil {
			g.given = true
			return nil
		}
	}
	if errors.As(err, new(UsageError)) { // of what -set sets
		return err
	}
	label := "-" + name
	if g.setting {
		label = name
	}
	meant := Nearest(value, g.choices)
	switch {
	case meant != "" && len(g.choices) > maxListed:
		err = errors.New("which is unknown")
	case g.choices != nil:
		err = errors.New("expected " + orList(g.choices))
	}
	if _, notNumber := strconv.ParseFloat(value, 64); notNumber != nil {
		value = fmt.Sprintf("%.80q", value)
	}
	return UsageError{Message: fmt.Sprintf("%s is %s, %v", label, value, err), Meant: meant}
}

// Given returns the flags that have been set, with their values.
func (f *Flags) Given() map[string]string { return f.values(func(g *Flag) bool { return g.given }) }

// Values returns the values of all flags.
func (f *Flags) Values() map[string]string { return f.values(func(*Flag) bool { return true }) }

func (f *Flags) values(of func(*Flag) bool) map[string]string {
	values := map[string]string{}
	for _, g := range f.list {
		if of(g) && !g.assigns {
			values[g.Name] = g.Value.String()
		}
	}
	return values
}

// Hold returns a function that gives the flags of these names the values that they have now. A flag
// declared by Func has no value.
func (f *Flags) Hold(names ...string) (restore func()) {
	var all []func()
	for _, name := range names {
		p := reflect.ValueOf(f.Lookup(name).target).Elem()
		now := reflect.ValueOf(p.Interface())
		all = append(all, func() { p.Set(now) })
	}
	return func() {
		for _, restore := range all {
			restore()
		}
	}
}

// parse parses args, in the syntax of package flag except that flags may follow arguments, and
// returns the arguments. After "--" all are arguments; "-" and negative numbers always are. Its
// errors are flag.ErrHelp and UsageErrors.
func (f *Flags) parse(args []string) (operands []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			return append(operands, args...), nil
		case !isFlag(arg):
			if err := f.checkDash(arg); err != nil {
				return nil, err
			}
			operands = append(operands, arg)
			continue
		}
		name, value, assigned := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		g := f.Lookup(name)
		switch {
		case g == nil && (name == "h" || name == "help"):
			return nil, flag.ErrHelp
		case g == nil:
			return nil, f.unknown(name)
		case g.setting:
			return nil, g.notFlag(value, assigned, args)
		case assigned:
		case g.isBool():
			value = "true"
		case len(args) == 0:
			return nil, Usagef("flag -%s: found no value after it", name)
		default:
			value, args = args[0], args[1:]
		}
		if err := f.Set(name, value); err != nil {
			return nil, err
		}
		for g.more != nil && len(args) > 0 && g.more(args[0]) {
			if err := f.Set(name, args[0]); err != nil {
				return nil, err
			}
			args = args[1:]
		}
	}
	return operands, nil
}

// isFlag reports whether an argument is a flag: it begins with a dash, and is neither "-" nor a
// negative number.
func isFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && !strings.ContainsRune(".0123456789", rune(arg[1]))
}

// dashes are those that word processors and web pages put in place of hyphens.
const dashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"

// checkDash reports an argument that would be a flag if it began with a hyphen.
func (f *Flags) checkDash(arg string) error {
	flag := strings.TrimLeft(arg, dashes)
	name, _, _ := strings.Cut(flag, "=")
	if flag == arg || f.Lookup(name) == nil {
		return nil
	}
	return UsageError{Message: fmt.Sprintf("%s begins with another dash than a flag, %U", arg, []rune(arg)[0]), Meant: "-" + flag}
}

// unknown returns the error of a flag that does not exist.
func (f *Flags) unknown(name string) error {
	u := UsageError{Message: "unknown flag -" + name}
	meant := Nearest(name, append(f.Names(), "help"))
	switch g := f.Lookup(meant); {
	case meant == "help":
		u.Meant = "-help"
	case g == nil:
	case g.setting:
		u.Meant = g.Word(g.placeholder)
	default:
		u.Meant = g.Label()
	}
	return u
}

// named returns a usage error whose lines begin with names of flags with settings as they are
// typed, without a dash. Packages that check values do not know which fields are settings.
func (f *Flags) named(err error) error {
	u, ok := err.(UsageError)
	if !ok {
		return err
	}
	lines := strings.Split(u.Message, "\n")
	for i, line := range lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "-"), " ")
		if g := f.Lookup(name); g != nil && g.setting {
			lines[i] = strings.TrimPrefix(line, "-")
		}
	}
	u.Message = strings.Join(lines, "\n")
	return u
}

// notFlag returns the error of a setting that is given as a flag, with the value after "=" if it is
// assigned, else the value in the next argument.
func (g *Flag) notFlag(value string, assigned bool, next []string) error {
	switch {
	case assigned:
	case g.isBool():
		value = "true"
	case len(next) > 0 && !isFlag(next[0]):
		value = next[0]
	default:
		value = g.placeholder
	}
	return UsageError{Message: g.Name + " is a setting, not a flag", Meant: g.Word(value)}
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
	g := f.IntVar(n, "threads", runtime.GOMAXPROCS(0), "threads to compute on; results do not depend on them")
	return g.Range(1, maxThreads).Default("one for each processor")
}
