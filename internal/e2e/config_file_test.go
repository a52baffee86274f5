package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dump returns the settings that tfm train prints with these flags.
func dump(t *testing.T, args ...string) string {
	t.Helper()
	return mustRun(t, "", append([]string{"train", "-dump-config"}, args...)...).stdout
}

// wantSetting fails the test unless the dump has the line.
func wantSetting(t *testing.T, dump, line string) {
	t.Helper()
	if !slices.Contains(strings.Split(dump, "\n"), line) {
		t.Errorf("no %q in\n%s", line, dump)
	}
}

// The output of -dump-config is read as the same settings.
func TestDumpIsReadAsItIs(t *testing.T) {
	base := toyModel(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"a b", ` "c#d" `, "#中"} {
		noError(t, os.WriteFile(name, []byte("a dog\tein Hund\n"), 0o666))
	}
	args, separate := trainArgs(t, "-joint=false", "-vocab-size", "300", "-set", "tie=none", "-steps", "1")
	mustRun(t, "", args...)
	for _, flags := range [][]string{
		nil,
		{"-preset", "E", "-set", "tie=none", "-joint=false"},
		{"-joint=false", "-set", "norm=pre", "-set", "scale-embeddings=false", "-dropout", "0.12345678", "-lr", "0.1234567890123", "-time", "1h2m3s"},
		{"-preset", "multi30k-tok", "-set", "factor=0.5"},
		{"-preset", "multi30k", "-vocab", separate},
		{"-vocab", base, "-src", "a b", "-tgt", ` "c#d" `, "-o", "e #f\n\xff" + `\`, "-valid-tsv", "#中"},
		{"-init", base, "-vocab", separate, "-dropout", "0.2"},
		{"-init", separate, "-vocab", base},
	} {
		first := dump(t, flags...)
		if second := dump(t, "-config", write(t, "run.conf", first)); second != first {
			t.Errorf("%q:\n%s\nis read as\n%s", flags, first, second)
		}
	}
}

func TestDumpLeavesNothingOut(t *testing.T) {
	var missing []string
	out := dump(t)
	for _, flag := range completions(t, "train", "-") {
		if name := strings.TrimPrefix(flag, "-"); !strings.Contains("\n"+out, "\n"+name+" =") {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if want := []string{"config", "dump-config", "force", "plan", "replay", "resume", "set"}; !slices.Equal(missing, want) {
		t.Errorf("not dumped are %v, want %v", missing, want)
	}
}

func TestConfigReproducesTheRun(t *testing.T) {
	args, m1 := trainArgs(t, "-steps", "9", "-dropout", "0.1", "-optimizer", "adamw", "-save-every", "4")
	conf := write(t, "run.conf", "# what the run was\n\n"+mustRun(t, "", append(args, "-dump-config")...).stdout)
	if _, err := os.Stat(m1); err == nil {
		t.Fatal("-dump-config trains")
	}
	mustRun(t, "", args...)
	m2 := filepath.Join(t.TempDir(), "m.safetensors")
	mustRun(t, "", "train", "-config", conf, "-o", m2)
	sameFiles(t, m1, m2, "the settings of a run give another model")

	// A resumed run accepts the file only with the settings of the run.
	m3 := filepath.Join(t.TempDir(), "m.safetensors")
	mustRun(t, "", "train", "-config", conf, "-o", m3, "-steps", "5")
	o := mustRun(t, "", "train", "-config", conf, "-o", m3, "-resume")
	if !strings.Contains(o.stderr, "step 5") || read(t, m1) != read(t, m3) {
		t.Errorf("a run that was resumed gives another model\n%s", o.stderr)
	}
	wantSetting(t, dump(t, "-resume", "-o", m3), "optimizer = adamw")
	other := write(t, "other.conf", strings.Replace(read(t, conf), "dropout = 0.1", "dropout = 0.2", 1))
	mustFail(t, runTFM(t, "", "train", "-config", other, "-o", m3, "-resume", "-steps", "12"), 2, "dropout 0.2 conflicts", "dropout 0.1")
}

func TestConfigErrors(t *testing.T) {
	for content, want := range map[string]string{
		"steps = 10\nstep = 3":       ":2: unknown setting \"step\"; did you mean \"steps\"?",
		"steps = ten":                `:1: -steps is "ten", expected a whole number, without commas`,
		"\n# x\nsteps = 1\n steps=2": ":4: steps is set twice, first in ",
		"steps 10":                   `:1: found "steps 10", expected name = value`,
		"resume = true":              ":1: resume is not a setting",
		`src = "a`:                   ":1: src =  \"a: missing closing quote",
		`src = "a" b`:                `found "b" after the quotes`,
		"= 3":                        `:1: unknown setting ""`,
	} {
		path := write(t, "run.conf", content+"\n")
		mustFail(t, runTFM(t, "", "train", "-config", path, "-dump-config"), 2, want)
	}
	mustFail(t, runTFM(t, "", "train", "-config", filepath.Join(t.TempDir(), "none"), "-dump-config"), 1, "none")
}

// Every recipe is a preset, and the help lists it with its title.
func TestRecipesAreListed(t *testing.T) {
	help := strings.Join(strings.Fields(mustRun(t, "", "help", "train", "-all").stdout), " ")
	files, err := filepath.Glob("../../cmd/tfm/recipes/*.conf")
	if err != nil || len(files) == 0 {
		t.Fatalf("found the recipes %v (error %v), expected some", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".conf")
		first, _, _ := strings.Cut(read(t, file), "\n")
		if title, ok := strings.CutPrefix(first, "# "); !ok || !strings.Contains(help, name) || !strings.Contains(help, title) {
			t.Errorf("%s: its first line is not in the help:\n%s", file, help)
		}
		dump(t, "-preset", name)
	}
}
