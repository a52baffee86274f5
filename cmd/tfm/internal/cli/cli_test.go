package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The table has the flags in the order in which they are declared, under the headings in the order
// in which they begin.
func TestFlags(t *testing.T) {
	f := NewFlags()
	verbose := f.Bool("v", false, "say more")
	f.Group("Files")
	src := f.String("src", "a", "`file` to read")
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
	if want := []string{"Flags: -v ", "Files: -src file", "Files: -more files", "Model: -width int"}; !reflect.DeepEqual(shown, want) {
		t.Errorf("groups %q, expected %q", shown, want)
	}
	if err := errors.Join(f.Set("width", "16"), f.Set("v", "true")); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"v": "true", "width": "16"}; !reflect.DeepEqual(f.Given(), want) || !*verbose || *src != "a" || width != 16 {
		t.Errorf("given %v, expected %v; values %v, %q, %d", f.Given(), want, *verbose, *src, width)
	}
	if want := map[string]string{"v": "true", "src": "a", "width": "16", "more": ""}; !reflect.DeepEqual(f.Values(), want) {
		t.Errorf("values %v, expected %v", f.Values(), want)
	}
}

// run runs a command line of a program that has one command, and returns the exit code and what it
// printed.
func run(t *testing.T, act func(ctx context.Context, args []string) error, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var program func() Program
	program = func() Program {
		return Program{"prog", "prog does nothing.", []Command{{Name: "do", Short: "do it", Usage: "[flags]", Example: "prog do -n 3", Notes: "A note.",
			Setup: func(f *Flags) func(context.Context, []string) error {
				f.Int("n", 7, "how `often`")
				return act
			}}, HelpCommand(program)}}
	}
	files := []**os.File{&os.Stdout, &os.Stderr}
	var printed []string
	for _, file := range files {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer func(was *os.File) { *file = was }(*file)
		*file = f
	}
	code = program().Run(context.Background(), args)
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

// Errors are one line, and the exit code says of which kind they are.
func TestExitCodes(t *testing.T) {
	nothing := func(context.Context, []string) error { return nil }
	failing := func(err error) func(context.Context, []string) error {
		return func(context.Context, []string) error { return err }
	}
	for _, c := range []struct {
		args   string
		act    func(context.Context, []string) error
		code   int
		stderr string
	}{
		{"do", nothing, 0, ""},
		{"", nothing, 2, "prog: no command; run 'prog help'\n"},
		{"undo", nothing, 2, "prog: unknown command \"undo\"; run 'prog help'\n"},
		{"do -m", nothing, 2, "prog: flag provided but not defined: -m; run 'prog help do'\n"},
		{"do file -n 3", nothing, 2, "prog: flag -n follows the argument \"file\": flags come first (a file of that name is ./-n); run 'prog help do'\n"},
		{"do -- file -n", nothing, 0, ""},
		{"do x", func(_ context.Context, args []string) error { return NoArguments(args) }, 2, "prog: unexpected argument \"x\"; run 'prog help do'\n"},
		{"do", failing(errors.New("one\ntwo")), 1, "prog: one; two\n"},
		{"do", failing(fmt.Errorf("wrapped: %w", Usagef("-n %d", 3))), 2, "prog: wrapped: -n 3; run 'prog help do'\n"},
		{"do", failing(InterruptError{syscall.SIGTERM}), 143, ""},
		{"help undo", nothing, 2, "prog: unknown command \"undo\"; run 'prog help help'\n"},
		{"help do do", nothing, 2, "prog: one command at a time; run 'prog help help'\n"},
	} {
		code, _, stderr := run(t, c.act, strings.Fields(c.args)...)
		if code != c.code || stderr != c.stderr {
			t.Errorf("prog %s: exit code %d, %q; expected %d, %q", c.args, code, stderr, c.code, c.stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	_, all, _ := run(t, nil, "help")
	if want := "prog does nothing.\n\n  prog do          do it\n"; !strings.HasPrefix(all, want) {
		t.Errorf("help\n%s\nexpected it to begin with\n%s", all, want)
	}
	_, one, _ := run(t, nil, "help", "do")
	if want := "prog do: do it\n\nUsage:\n  prog do [flags]\n\nExample:\n  prog do -n 3\n\nFlags:\n  -n often\n      how often (default 7)\n\nA note.\n"; one != want {
		t.Errorf("help of the command\n%s\nexpected\n%s", one, want)
	}
	if _, same, _ := run(t, nil, "do", "-h"); same != one {
		t.Errorf("-h\n%s\nexpected\n%s", same, one)
	}
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{"a/b-c.d=1": "a/b-c.d=1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "中": "'中'"} {
		if found := ShellWord(s); found != want {
			t.Errorf("%q: %s, expected %s", s, found, want)
		}
	}
}

func TestValues(t *testing.T) {
	var d time.Duration
	var x float32
	var b bool
	for _, c := range []struct {
		v             flag.Value
		set, want, is string // is: a part of the error
	}{
		{(*DurationValue)(&d), "90s", "1m30s", ""},
		{(*DurationValue)(&d), "15", "", "expected a duration such as 90s"},
		{(*Float32Value)(&x), "0.1", "0.1", ""},
		{(*Float32Value)(&x), "much", "", "invalid syntax"},
		{(*NotValue)(&b), "false", "false", ""},
		{(*NotValue)(&b), "maybe", "", "invalid syntax"},
	} {
		err := c.v.Set(c.set)
		switch {
		case c.is != "" && (err == nil || !strings.Contains(err.Error(), c.is)):
			t.Errorf("%T %s: error %v, expected %q", c.v, c.set, err, c.is)
		case c.is == "" && (err != nil || c.v.String() != c.want):
			t.Errorf("%T %s: %s, %v; expected %s", c.v, c.set, c.v, err, c.want)
		}
	}
	if (*NotValue)(&b).Set("false"); d != 90*time.Second || x != 0.1 || !b {
		t.Errorf("found %v, %v, %v; expected 1m30s, 0.1, true", d, x, b)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{dir: "no regular file", filepath.Join(dir, "none", "new"): "cannot be written"} {
		if err := CheckWritable(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected %q", path, err, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
