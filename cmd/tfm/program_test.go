package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/cmd/tfm/internal/cli"
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
		f := cli.NewFlags()
		c.Setup(f)
		for _, g := range f.All() {
			_, completions, _ := runHere(t, t.Context(), "completion", "-words", "--", c.Name, "-"+g.Name+"=")
			for _, value := range strings.Fields(completions) {
				value, isValue := strings.CutPrefix(value, "-"+g.Name+"=")
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
	for _, flag := range strings.Split(help, "\n  -")[1:] {
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

// The flags of Marian, fairseq, sacreBLEU and OpenNMT lead to those of this program.
func TestFlagsOfOthers(t *testing.T) {
	for flags, command := range map[string]string{
		"--train-sets -src, --valid-freq -valid-every, --learn-rate -lr, --after-epochs -steps, --mini-batch -batch-tokens, --enc-depth -encoder-layers": "train",
		"--max-epoch -steps, --max-tokens -batch-tokens, --lr-scheduler -schedule, --learning_rate -lr, --warmup-updates -warmup, --Dropout -dropout":    "train",
		"--beam-size -beam, --n-best -nbest, --mini-batch -batch, --lenpen -alpha, --sampling-topk -top-k, --num_beams -beam, --cpu-threads -threads":    "translate",
		"-tok -tokenize, -lc -lowercase, -sl -sentence, --chrf-word-order -chrf-words, --paired-bs -paired":                                              "score",
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
