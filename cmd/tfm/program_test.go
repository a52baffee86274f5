package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// runHere runs a command line in this process, and returns its exit code and what it wrote.
func runHere(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	output := func(standard **os.File, name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		saved := *standard
		*standard = f
		t.Cleanup(func() { *standard = saved; f.Close() })
		return f
	}
	out, errors := output(&os.Stdout, "stdout"), output(&os.Stderr, "stderr")
	code = program().Run(ctx, args)
	return code, read(t, out.Name()), read(t, errors.Name())
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every file is a subcommand and is named for it, so that each can be read alone; all else is in
// packages.
func TestAFileIsASubcommand(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"main", "doc"}
	for _, c := range program().Commands {
		names = append(names, strings.ReplaceAll(c.Name, "-", "_"))
	}
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".go"); !strings.HasSuffix(name, "_test") && !slices.Contains(names, name) {
			t.Errorf("%s: there is no subcommand %s", file, name)
		}
	}
}

// Each completion of a value is one that the flag accepts.
func TestChoices(t *testing.T) {
	choices := 0
	for _, c := range program().Commands {
		f, _ := c.Declare()
		for _, g := range f.All() {
			words := []string{g.Label() + "="}
			if g.IsSetting() {
				words = []string{"-set", g.Name + "="}
			}
			_, completions, _ := runHere(t, t.Context(), append([]string{"completion", "-words", "--", c.Name}, words...)...)
			for _, value := range strings.Fields(completions) {
				value, isValue := strings.CutPrefix(value, g.Label()+"=")
				if !isValue { // :files
					continue
				}
				choices++
				if err := f.Set(g.Name, value); err != nil {
					t.Errorf("tfm %s -%s %s: %v", c.Name, g.Name, value, err)
				}
			}
		}
	}
	if choices < 100 {
		t.Errorf("%d choices, want at least 100", choices)
	}
}

// Settings that depend on the preset show no value as their default.
func TestDefaultsOfPresets(t *testing.T) {
	_, help, _ := runHere(t, t.Context(), "help", "train", "-all")
	byPreset := map[string]bool{} // whether the help of a flag says so
	for _, flag := range regexp.MustCompile(`\n  \b|\n  -`).Split(help, -1)[1:] {
		flag = strings.Join(strings.Fields(flag), " ")
		name, _, _ := strings.Cut(flag, " ")
		byPreset[name] = strings.Contains(flag, "(default depends on -preset)") || strings.Contains(flag, "(default chosen from")
	}
	values := map[string]string{}
	for _, preset := range []string{"demo", "tiny", "small", "base", "big", "A1", "B1", "C1", "E"} {
		_, config, _ := runHere(t, t.Context(), "train", "-preset", preset, "-src", "program_test.go", "-tgt", "program_test.go", "-dump-config")
		for line := range strings.Lines(config) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
			if first, seen := values[name]; seen && value != first && name != "preset" && !byPreset[name] {
				t.Errorf("-%s is %s with -preset %s and %s with demo, and tfm help train -all shows one default", name, value, preset, first)
			} else if ok && !seen {
				values[name] = value
			}
		}
	}
	if len(values) < 60 {
		t.Errorf("%d settings, want at least 60", len(values))
	}
}

// Flags of other programs lead to those of this one.
func TestFlagsOfOthers(t *testing.T) {
	for flags, command := range map[string]string{
		"--source -src, --learning_rate -lr, --epochs -steps, --batch-size -batch-tokens, --max-length -max-len": "train",
		"--beam-size -beam, --n-best -nbest, --batch-size -set batch=N, --max-length -set max-source=N":          "translate",
	} {
		for _, pair := range strings.Split(flags, ", ") {
			given, want, _ := strings.Cut(pair, " ")
			_, _, got := runHere(t, t.Context(), command, given)
			if end := "; did you mean \"" + want + "\"?\n"; !strings.HasSuffix(got, end) {
				t.Errorf("tfm %s %s prints %q, want the end %q", command, given, got, end)
			}
		}
	}
}

// Settings that are given as flags, and wrong ones, lead to -set.
func TestSettingsAsFlags(t *testing.T) {
	for line, want := range map[string]string{
		"train -beta1 0.9":       `beta1 is a setting, not a flag; did you mean "-set beta1=0.9"?`,
		"train -norm-eps=1e-6":   `norm-eps is a setting, not a flag; did you mean "-set norm-eps=1e-6"?`,
		"train -d-k -d-v 3":      `d-k is a setting, not a flag; did you mean "-set d-k=N"?`,
		"train -set beta3=0.9":   `-set beta3=0.9: unknown setting beta3; did you mean "beta1"?`,
		"train -set resume=true": `-set resume=true: resume is not a setting, only a flag of the command line; run 'tfm help train'`,
		"train -set beta1":       `-set is "beta1", expected name=value; run 'tfm help train'`,
		"train -set eps=small":   `eps is "small", expected a number, without commas; run 'tfm help train'`,

		"train -init pytorch -src doc.go -tgt doc.go": `-init is "pytorch", expected a model file; did you mean "-set init-scheme=pytorch"?`,
	} {
		if code, _, stderr := runHere(t, t.Context(), strings.Fields(line)...); code != 2 || stderr != "tfm: "+want+"\n" {
			t.Errorf("tfm %s = %d\n%swant tfm: %s", line, code, stderr, want)
		}
	}
}

// sharedFlags has, for each flag that commands declare with different words, what all of them say.
var sharedFlags = map[string]string{
	"src": "of source", "tgt": "translations", "tsv": "file of (pairs|lines)", "model": "model file", "preset": "model", "vocab": "tokenizer",
	"o": "write", "force": "replace", "json": "JSON", "seed": "seed", "steps": "steps", "data": "folder", "format": "format", "dry-run": "count",
	"src-lang": "source language", "tgt-lang": "target language", "vocab-size": "pieces", "progress": "speed and remaining time",
	"time": "training time", "beam": "kept at each decode step; 1 is greedy", "nbest": "translations of each", "config": "settings file",
	"int8": "8 bits.*: faster, and a few translations differ", "valid-src": "validation source sentences; without it some of the pairs are held out",
	"length-penalty": "divisor of the log-probability", "dropped": "dropped", "sample": "draw translations at random", "drop": "with the lowest scores to drop",
}

// A name of a flag means the same in all commands, so its value does. Only -o is a file here and a
// folder there, of what the command writes.
func TestSharedFlags(t *testing.T) {
	type use struct{ command, kind, usage string }
	uses := map[string][]use{}
	for _, c := range program().Commands {
		f, _ := c.Declare()
		for _, g := range f.All() {
			kind := fmt.Sprintf("%T, setting: %v", g.Value, g.IsSetting())
			kind = strings.Replace(kind, "cli.limited", "*cli.value[int]", 1)
			if words := strings.Split(g.Usage, "`"); len(words) > 1 && g.Name != "o" {
				kind += ", " + words[1]
			}
			uses[g.Name] = append(uses[g.Name], use{c.Name, kind, strings.ReplaceAll(g.Usage, "`", "")})
		}
	}
	shared := 0
	for name, list := range uses {
		first := list[0]
		for _, u := range list[1:] {
			shared++
			if u.kind != first.kind {
				t.Errorf("-%s: in %s %s, in %s %s", name, first.command, first.kind, u.command, u.kind)
			}
			meaning := sharedFlags[name]
			both := regexp.MustCompile(cmp.Or(meaning, "never")).MatchString
			if u.usage != first.usage && !(both(u.usage) && both(first.usage)) {
				t.Errorf("-%s: in %s %q, in %s %q, expected %q in both", name, first.command, first.usage, u.command, u.usage, meaning)
			}
		}
	}
	if shared < 100 {
		t.Errorf("%d shared flags, want at least 100", shared)
	}
}

// "-" is standard input, for files as for the flags that name one.
func TestStandardInput(t *testing.T) {
	saved := os.Stdin
	t.Cleanup(func() { os.Stdin = saved })
	for _, args := range []string{"score -ref doc.go -", "score -ref - doc.go", "score doc.go -ref=-"} {
		var err error
		if os.Stdin, err = os.Open("doc.go"); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := runHere(t, t.Context(), strings.Fields(args)...); code != 0 || !strings.Contains(stdout, "BLEU = 100.00") {
			t.Errorf("tfm %s = %d\n%s%s", args, code, stdout, stderr)
		}
	}
}
