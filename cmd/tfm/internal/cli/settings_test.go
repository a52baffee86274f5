package cli

import (
	"fmt"
	"strings"
	"testing"
)

func settingFlags() *Flags {
	f := NewFlags()
	f.IntVar(new(int), "n", 0, "number").Action()
	f.Float64Var(new(float64), "rate", 0.5, "rate of it").Setting()
	f.StringVar(new(string), "kind", "a", "kind of it").Choices("a", "b").Setting()
	f.BoolVar(new(bool), "fast", false, "be fast").Setting()
	return f
}

// Settings are given by -set, as often as wanted; the last one counts.
func TestSettings(t *testing.T) {
	f := settingFlags()
	f.declareSet()
	if f.Set("set", "rate = 0.2") != nil || f.Given()["rate"] != "0.2" {
		t.Errorf("-set 'rate = 0.2' gives %v", f.Given())
	}
	for _, c := range []struct{ args, want string }{
		{"-set rate=0.1 x -set=kind=b -set rate=0.2", "[x] map[kind:b rate:0.2]"},
		{"-set =3", `-set is "=3", expected name=value, `},
		{"-set fast=true", "[] map[fast:true]"},
		{"-rate 0.1", `rate is a setting, not a flag, -set rate=0.1`},
		{"-rate=0.1", `rate is a setting, not a flag, -set rate=0.1`},
		{"-rate", `rate is a setting, not a flag, -set rate=X`},
		{"-rate -n 3", `rate is a setting, not a flag, -set rate=X`},
		{"-fast", `fast is a setting, not a flag, -set fast=true`},
		{"-rates 1", `unknown flag -rates, -set rate=X`},
		{"-set rate", `-set is "rate", expected name=value, `},
		{"-set rat=1", `-set rat=1: unknown setting rat, rate`},
		{"-set rate=x", `rate is "x", expected a number, without commas, `},
		{"-set kind=c", `kind is "c", expected a or b, `},
		{"-set n=1", `-set n=1: n is not a setting, only a flag of the command line, `},
	} {
		f := settingFlags()
		f.declareSet()
		operands, err := f.parse(strings.Fields(c.args))
		got := fmt.Sprint(operands, f.Given())
		if err != nil {
			got = err.Error() + ", " + err.(UsageError).Meant
		}
		if got != c.want {
			t.Errorf("parse(%s) = %s, want %s", c.args, got, c.want)
		}
	}
}

// Help and manual page have settings under a heading of their own.
func TestHelpOfSettings(t *testing.T) {
	c := Command{Name: "go", Setup: func(f *Flags) Action {
		*f = *settingFlags()
		return nil
	}}
	const want = `
Flags:
  -n N                    number
  -set NAME=VALUE         name=value of a setting, from the list at the end;
                          repeat it for more

Settings, for -set NAME=VALUE:
  rate X                  rate of it (default 0.5)
  kind NAME               kind of it (default a)
  fast BOOL               be fast
`
	p := Program{Name: "prog", About: "prog does nothing."}
	if help := p.commandHelp(c, true); !strings.HasSuffix(help, want) {
		t.Errorf("help\n%s\nwant the end\n%s", help, want)
	}
}

func TestCompletionsOfSettings(t *testing.T) {
	p := Program{Commands: []Command{{Name: "go", Setup: func(f *Flags) Action {
		*f = *settingFlags()
		return nil
	}}}}
	for _, c := range []struct{ words, want string }{
		{"go -", "-n -set"},
		{"go -set ", "rate= kind= fast="},
		{"go -set k", "kind="},
		{"go -set kind=", "kind=a kind=b"},
		{"go -set kind=b", "kind=b"},
		{"go --set fast=t", "fast=true"},
		{"go -set kind=b -s", "-set"},
		{"go -kind=", ""},
		{"go -set none=", ""},
	} {
		var got []string
		for line := range strings.Lines(p.completions(strings.Split(c.words, " "))) {
			candidate, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, candidate)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("completions(%s) = %s, want %s", c.words, got, c.want)
		}
	}
}
