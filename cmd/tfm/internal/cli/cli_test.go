package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Flags and headings are in the order of their declaration.
func TestFlags(t *testing.T) {
	f := NewFlags()
	var verbose bool
	var src string
	f.BoolVar(&verbose, "v", false, "print more")
	f.Group("Files")
	f.StringVar(&src, "src", "a", "`file` to read")
	f.Group("Model")
	var width int
	f.IntVar(&width, "width", 8, "numbers")
	f.Group("Files")
	f.Func("more", "more `files`", func(string) error { return nil })
	var shown []string
	f.Groups(func(title string, flags []*Flag) {
		for _, g := range flags {
			kind, _ := flag.UnquoteUsage(g.Flag)
			shown = append(shown, fmt.Sprintf("%s: -%s %s", title, g.Name, kind))
		}
	})
	if want := []string{"Flags: -v ", "Files: -src file", "Files: -more files", "Model: -width value"}; !reflect.DeepEqual(shown, want) {
		t.Errorf("groups = %q, want %q", shown, want)
	}
	if err := errors.Join(f.Set("width", "16"), f.Set("v", "true")); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"v": "true", "width": "16"}; !reflect.DeepEqual(f.Given(), want) || !verbose || src != "a" || width != 16 {
		t.Errorf("Given() = %v, want %v; values %v, %q, %d", f.Given(), want, verbose, src, width)
	}
	if want := map[string]string{"v": "true", "src": "a", "width": "16", "more": ""}; !reflect.DeepEqual(f.Values(), want) {
		t.Errorf("Values() = %v, want %v", f.Values(), want)
	}
}

// run runs a command line of a program with one command, and returns the exit code and what it
// printed.
func run(t *testing.T, act func(ctx context.Context, args []string) error, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	files := []**os.File{&os.Stdout, &os.Stderr}
	var printed []string
	for _, file := range files {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer func(saved *os.File) { *file = saved }(*file)
		*file = f
	}
	code = testProgram(act).Run(context.Background(), args)
	for _, file := range files {
		(*file).Seek(0, io.SeekStart)
		text, err := io.ReadAll(*file)
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, string(text))
	}
	return code, printed[0], printed[1]
}

func testProgram(act func(ctx context.Context, args []string) error) Program {
	var program func() Program
	program = func() Program {
		return Program{Name: "prog", Date: "2017-06-12", About: "prog does nothing.", Commands: []Command{
			{
				Name: "perform", Group: "Work",
				Manual: Manual{"do it", "Usage:\n  prog perform [flags]\n\nExample:\n  prog perform -n 3", "A note.", "A detail."},
				Setup: func(f *Flags) func(context.Context, []string) error {
					f.Group("Numbers")
					f.IntVar(new(int), "n", 7, "how `often`")
					f.IntVar(new(int), "batch-size", 0, "lines; 0 is all").Common().Default("depends on -n")
					f.Group("Kinds")
					f.StringVar(new(string), "method", "exact", "method:\n  exact   slow\n  sample  fast").Choices("exact", "sample")
					f.BoolVar(new(bool), "quiet", false, "print nothing")
					f.StringVar(new(string), "src", "", "`file` to read")
					f.StringVar(new(string), "dir", "", "`folder` to write")
					return act
				},
			},
			HelpCommand(program), CompletionCommand(program),
		}}
	}
	return program()
}

// Errors are one line; the exit code depends on their kind.
func TestExitCodes(t *testing.T) {
	nothing := func(context.Context, []string) error { return nil }
	failing := func(err error) func(context.Context, []string) error {
		return func(context.Context, []string) error { return err }
	}
	_, list, _ := run(t, nil, "help")
	for _, c := range []struct {
		args   string
		act    func(context.Context, []string) error
		code   int
		stderr string
	}{
		{"perform", nothing, 0, ""},
		{"", nothing, 2, list},
		{"zzz", nothing, 2, "prog: unknown command \"zzz\"; run 'prog help'\n"},
		{"perfrom", nothing, 2, "prog: unknown command \"perfrom\"; did you mean \"perform\"?\n"},
		{"perform -n", nothing, 2, "prog: flag -n: found no value after it; run 'prog help perform'\n"},
		{"perform --n 3 -quiet -batch-size=2 - x", nothing, 0, ""},
		{"perform ---n 3", nothing, 2, "prog: unknown flag --n; run 'prog help perform'\n"},
		{"perform -zzz", nothing, 2, "prog: unknown flag -zzz; run 'prog help perform'\n"},
		{"perform -\x1b[31m", nothing, 2, "prog: unknown flag - [31m; run 'prog help perform'\n"},
		{"--n perform", nothing, 2, "prog: found the flag --n, expected a command before it; run 'prog help'\n"},
		{"perform \u2212batch-size 3", nothing, 2, "prog: \u2212batch-size begins with another dash than a flag, U+2212; did you mean \"-batch-size\"?\n"},
		{"perform \u2013 \u2013x -- \u2013n", nothing, 0, ""},
		{"--verson", nothing, 2, "prog: found the flag --verson, expected a command before it; did you mean \"--version\"?\n"},
		{"perform -method exat", nothing, 2, "prog: -method is \"exat\", expected exact or sample; did you mean \"exact\"?\n"},
		{"perform -method zzz", nothing, 2, "prog: -method is \"zzz\", expected exact or sample; run 'prog help perform'\n"},
		{"perform x", func(_ context.Context, args []string) error { return NoArguments(args) }, 2, "prog: unexpected argument \"x\"; run 'prog help perform'\n"},
		{"perform", failing(errors.New("one\ntwo")), 1, "prog: one; two\n"},
		{"perform", failing(fmt.Errorf("wrapped: %w", Usagef("-n %d", 3))), 2, "prog: wrapped: -n 3; run 'prog help perform'\n"},
		{"perform", failing(fmt.Errorf("a: %w", &fs.PathError{Op: "open", Path: "b", Err: fs.ErrNotExist})), 1, "prog: a: b: file does not exist\n"},
		{"perform", failing(&fs.PathError{Op: "write", Path: "b", Err: fs.ErrPermission}), 1, "prog: write b: permission denied\n"},
		{"perform", failing(InterruptError{syscall.SIGTERM}), 143, ""},
		{"help perfor", nothing, 2, "prog: unknown command \"perfor\"; did you mean \"perform\"?\n"},
		{"help help help", nothing, 2, "prog: found 2 commands, expected one; run 'prog help'\n"},
		{"completion", nothing, 2, "prog: found 0 shells, expected one of bash, zsh, fish, powershell; run 'prog help completion'\n"},
	} {
		code, _, stderr := run(t, c.act, strings.Fields(c.args)...)
		if code != c.code || stderr != c.stderr {
			t.Errorf("prog %s = exit code %d, %q, want %d, %q", c.args, code, stderr, c.code, c.stderr)
		}
	}
}

// Flags may follow arguments. "--" ends the flags; "-" and negative numbers are arguments.
func TestParse(t *testing.T) {
	for _, c := range []struct{ args, operands, given string }{
		{"a -n 3 b -v c", "a b c", "map[n:3 v:true]"},
		{"-n -3 -1 -.5 - a", "-1 -.5 - a", "map[n:-3]"},
		{"a -v -- -n -- b", "a -n -- b", "map[v:true]"},
		{"-- -v", "-v", "map[]"},
		{"-n=1 a -n 2", "a", "map[n:2]"},
	} {
		f := NewFlags()
		f.IntVar(new(int), "n", 0, "")
		f.BoolVar(new(bool), "v", false, "")
		operands, err := f.parse(strings.Fields(c.args))
		if got := fmt.Sprint(f.Given()); err != nil || strings.Join(operands, " ") != c.operands || got != c.given {
			t.Errorf("parse(%s) = %q, %v with flags %s, want %s with %s", c.args, operands, err, got, c.operands, c.given)
		}
	}
}

func TestHelp(t *testing.T) {
	_, list, _ := run(t, nil, "help", "-all")
	if want := "prog does nothing.\n\nWork:\n  perform     do it\n\n:\n  help        \n  completion"; !strings.HasPrefix(list, want) {
		t.Errorf("prog help =\n%s\nwant prefix\n%s", list, want)
	}
	const head = "prog perform: do it\n\nUsage:\n  prog perform [flags]\n\nExample:\n  prog perform -n 3\n"
	_, common, _ := run(t, nil, "help", "perform")
	if want := head + `
Common flags:
  -batch-size N           lines; 0 is all (default depends on -n)

'prog help perform -all' shows all 6 flags.

A note.
`; common != want {
		t.Errorf("prog help perform =\n%s\nwant\n%s", common, want)
	}
	for _, args := range []string{"perform -h", "perform --help"} {
		if _, got, _ := run(t, nil, strings.Fields(args)...); got != common {
			t.Errorf("prog %s =\n%s\nwant\n%s", args, got, common)
		}
	}
	want := head + `
Numbers:
  -n OFTEN                how often (default 7)
  -batch-size N           lines; 0 is all (default depends on -n)

Kinds:
  -method NAME            method (default exact):
                            exact   slow
                            sample  fast
  -quiet                  print nothing
  -src FILE               file to read
  -dir FOLDER             folder to write

A note.

A detail.
`
	for _, args := range []string{"help perform -all", "help -all perform", "perform -h -all"} {
		if _, got, _ := run(t, nil, strings.Fields(args)...); got != want {
			t.Errorf("prog %s =\n%s\nwant\n%s", args, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"train", "translate", "average", "src", "lr", "tgt", "batch-tokens", "vocab-size", "src-vocab-size", "clip-norm", "valid-src", "valid-tgt", "dropout"}
	for word, want := range map[string]string{
		"trian": "train", "transalte": "translate", "tranlsat": "translate", "avrage": "average", "scr": "src", "lt": "", "valid-scr": "valid-src",
		"batchtokens": "batch-tokens", "tokens": "batch-tokens", "clip": "clip-norm", "size": "vocab-size", "drop": "dropout",
		"": "", "x": "", "zz": "", "frobnicate": "", "help": "", "tr": "", "valid": "valid-src", "tgtt": "tgt",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestCompletions(t *testing.T) {
	p := testProgram(nil)
	for _, c := range []struct {
		words []string
		want  string // the candidates
	}{
		{nil, ""},
		{[]string{""}, "perform help completion"},
		{[]string{"pe"}, "perform"},
		{[]string{"x"}, ""},
		{[]string{"x", ""}, ""},
		{[]string{"help", ""}, "perform help completion"},
		{[]string{"help", "-all", "p"}, "perform"},
		{[]string{"help", "perform", "-"}, "-all -man"},
		{[]string{"completion", "z"}, "zsh"},
		{[]string{"perform", ""}, ":files"},
		{[]string{"perform", "-"}, "-n -batch-size -method -quiet -src -dir"},
		{[]string{"perform", "--m"}, "--method"},
		{[]string{"perform", "-method", ""}, "exact sample"},
		{[]string{"perform", "-method", "s"}, "sample"},
		{[]string{"perform", "--method", "s"}, "sample"},
		{[]string{"perform", "-method=s"}, "-method=sample"},
		{[]string{"perform", "--method=s"}, "--method=sample"},
		{[]string{"perform", "-method", "exact", "-q"}, "-quiet"},
		{[]string{"perform", "-quiet", "-s"}, "-src"},
		{[]string{"perform", "-quiet="}, "-quiet=true -quiet=false"},
		{[]string{"perform", "-n", ""}, ""},
		{[]string{"perform", "-n", "-m"}, ""}, // the value of -n
		{[]string{"perform", "-src", ""}, ":files"},
		{[]string{"perform", "-src=a"}, ":files"},
		{[]string{"perform", "-dir", "a"}, ":folders"},
		{[]string{"perform", "-zzz=a"}, ""},
		{[]string{"perform", "file", "-m"}, "-method"},
		{[]string{"perform", "-3", "-m"}, "-method"},
		{[]string{"perform", "--", "-m"}, ":files"},
	} {
		var got []string
		for _, line := range strings.Split(strings.TrimSuffix(p.completions(c.words), "\n"), "\n") {
			candidate, _, _ := strings.Cut(line, "\t")
			got = append(got, candidate)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("completions(%q) = %q, want %q", c.words, got, c.want)
		}
	}
	if got, want := p.completions([]string{"perform", "-m"}), "-method\tmethod\n"; got != want {
		t.Errorf("completions of -m = %q, want %q", got, want)
	}
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{"a/b-c.d=1": "a/b-c.d=1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "中": "'中'"} {
		if got := ShellWord(s); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	var d time.Duration
	var x float32
	var b bool
	var n int
	var u uint64
	small := limited{newInt(&n), 1, 9}
	for _, c := range []struct {
		v              flag.Value
		set, want, err string // err: a part of the error
	}{
		{newDuration(&d), "90s", "1m30s", ""},
		{newInt(&n), "0x10", "16", ""},
		{newInt(&n), "1.5", "", "expected a whole number, without commas"},
		{newUint64(&u), "-1", "", "expected a whole number, without commas, from 0"},
		{newFloat64(new(float64)), "1e-3", "0.001", ""},
		{newFloat64(new(float64)), "1,5", "", "expected a number, without commas"},
		{small, "9", "9", ""},
		{small, "0", "", "expected 1 to 9"},
		{small, "99999999999999999999", "", "expected 1 to 9"},
		{small, "5,0", "", "expected a whole number, without commas"},
		{(*boolValue)(&b), "maybe", "", "expected true or false"},
		{newDuration(&d), "15", "", "expected a duration such as 90s"},
		{newFloat32(&x), "0.1", "0.1", ""},
		{newFloat32(&x), "much", "", "expected a number"},
		{(*NotValue)(&b), "false", "false", ""},
		{(*NotValue)(&b), "maybe", "", "expected true or false"},
	} {
		err := c.v.Set(c.set)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%T.Set(%q) = %v, want %q in the error", c.v, c.set, err, c.err)
		case c.err == "" && (err != nil || c.v.String() != c.want):
			t.Errorf("%T.Set(%q): value %s, error %v, want %s", c.v, c.set, c.v, err, c.want)
		}
	}
	if (*NotValue)(&b).Set("false"); d != 90*time.Second || x != 0.1 || !b {
		t.Errorf("values %v, %v, %v, want 1m30s, 0.1, true", d, x, b)
	}
}

func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	text, model := filepath.Join(dir, "text"), filepath.Join(dir, "en-de.safetensors")
	for _, path := range []string{text, model} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	output := func(path string, inputs ...string) error { return CheckModelOutput(path, true, inputs...) }
	for _, c := range []struct {
		name  string
		check func(path string, inputs ...string) error
		path  string
		want  string // part of the error, "" for none
	}{
		{"CheckOutput", CheckOutput, text, "would replace an input"},
		{"CheckOutput", CheckOutput, model, "would replace a model"},
		{"CheckOutput", CheckOutput, filepath.Join(dir, "new.safetensors"), ""},
		{"CheckModelOutput", output, text, "would replace an input"},
		{"CheckModelOutput", output, model, ""},
	} {
		err := c.check(c.path, "", text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s(%q) = %v, want %q in the error", c.name, c.path, err, c.want)
		}
	}
	if err := CheckModelOutput(model, false); err == nil {
		t.Error("CheckModelOutput(model, false) = nil, want an error")
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{dir: "not a regular file", filepath.Join(dir, "none", "new"): "cannot be written"} {
		if err := CheckWritable(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckWritable(%q) = %v, want %q in the error", path, err, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left behind: %v, %v", left, err)
	}
}

// A manual page is printed as written: a dot at the start of a line and a backslash are text.
func TestManualPage(t *testing.T) {
	code, page, _ := run(t, nil, "help", "-man", "perform")
	const want = `.TH "PROG\-PERFORM" 1 "2017-06-12" "prog"
.SH NAME
prog\-perform \- do it
.SH DESCRIPTION
.nf
Usage:
  prog perform [flags]

Example:
  prog perform \-n 3

Numbers:
  \-n OFTEN                how often (default 7)
  \-batch\-size N           lines; 0 is all (default depends on \-n)
`
	if code != 0 || !strings.HasPrefix(page, want) {
		t.Errorf("code %d, page\n%s\nwant\n%s", code, page, want)
	}
	if got, want := roff(".a 'b' \\n\n.c"), `\&.a \(aqb\(aq \en`+"\n"+`\&.c`; got != want {
		t.Errorf("roff = %q, want %q", got, want)
	}
}
