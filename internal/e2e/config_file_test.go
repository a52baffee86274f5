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

// inFolderOf changes to a folder with files of these names, each with one pair of sentences or one
// sentence.
func inFolderOf(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		if err := os.WriteFile(name, []byte("a dog\tein Hund\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The output of -dump-config is read as the same settings.
func TestDumpIsReadAsItIs(t *testing.T) {
	base := toyModel(t)
	inFolderOf(t, "a b", ` "c#d" `, "#中")
	args, separate := trainArgs(t, "-joint=false", "-vocab-size", "300", "-set", "tie=none", "-steps", "1")
	mustRun(t, "", args...)
	for _, flags := range [][]string{
		nil,
		{"-preset", "base"},
		{"-preset", "base", "-set", "factor=2"},
		{"-preset", "E", "-set", "tie=none", "-joint=false"},
		{"-joint=false", "-set", "norm=pre", "-set", "scale-embeddings=false", "-dropout", "0.12345678", "-lr", "0.1234567890123", "-time", "1h2m3s"},
		{"-optimizer", "adamw", "-set", "cooldown=0.25", "-steps", "60000"},
		{"-optimizer", "sgd", "-set", "momentum=0.9", "-set", "clip-norm=0"},
		{"-set", "schedule=paper", "-set", "factor=2", "-set", "keep=3"},
		{"-preset", "multi30k"},
		{"-preset", "multi30k-tok", "-set", "factor=0.5"},
		{"-preset", "multi30k", "-vocab", separate},
		{"-vocab", base, "-src", "a b", "-tgt", ` "c#d" `, "-o", "e #f\n\xff" + `\`, "-valid-tsv", "#中"},
		{"-init", base},
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
	if read(t, m1) != read(t, m2) {
		t.Error("the settings of a run give another model")
	}

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

// The command line overrules the file, and the file the preset, in what follows from them too.
func TestLayersOfSettings(t *testing.T) {
	inFolderOf(t, "c#d", "a # b")
	conf := write(t, "run.conf", "preset = multi30k # a recipe\nlr = 0.003\n\twarmup=7\n  tgt = \"a # b\"\nsrc = c#d\n")
	out := dump(t, "-config", conf, "-set", "warmup=9")
	for _, want := range []string{"preset = multi30k", "lr = 0.003", "warmup = 9", `tgt = "a # b"`, "src = c#d", "dropout = 0.2", "steps = 5540", "valid-every = 400"} {
		wantSetting(t, out, want)
	}
	for _, c := range []struct {
		file, flags string
		wants       []string
	}{
		{"", "-preset multi30k -set factor=2", []string{"lr = 0", "factor = 2", "schedule = paper"}},
		{"lr = 0.003\nfactor = 1", "-set factor=2", []string{"lr = 0", "schedule = paper"}},
		{"lr = 0.003", "-set schedule=paper", []string{"lr = 0", "schedule = paper"}},
		{"schedule = paper\nlr = 0", "-lr 0.003", []string{"lr = 0.003", "schedule = inverse-sqrt"}},
		{"preset = multi30k", "-optimizer adamw", []string{"weight-decay = 0.01"}},
		{"optimizer = adamw\nweight-decay = 0.1", "-optimizer adam", []string{"weight-decay = 0"}},
		{"optimizer = sgd\nmomentum = 0.9\nbeta1 = 0.9", "", []string{"momentum = 0.9"}},
		{"optimizer = sgd\nmomentum = 0.9", "-optimizer adam", []string{"momentum = 0"}},
		{"preset = multi30k", "-set keep=2", []string{"keep = 2", "average = 0"}},
		{"preset = multi30k", "-joint=false", []string{"tie = decoder", "output-bias = false"}},
		{"preset = multi30k", "-set tie=none", []string{"output-bias = true"}},
		{"preset = base", "-preset tiny", []string{"preset = tiny", "d-model = 128"}},
		{"preset = base\nd-model = 64", "-preset tiny", []string{"d-model = 64", "d-ff = 256"}},
	} {
		out := dump(t, append(strings.Fields(c.flags), "-config", write(t, "run.conf", "# over the preset\n"+c.file))...)
		for _, want := range c.wants {
			wantSetting(t, out, want)
		}
	}
}

func TestRecipeGoesOn(t *testing.T) {
	src, tgt := toyCorpus(t)
	m := filepath.Join(t.TempDir(), "m.safetensors")
	args := []string{"train", "-src", src, "-tgt", tgt, "-o", m, "-preset", "multi30k", "-vocab-size", "300", "-batch-tokens", "300", "-set", "d-model=32", "-valid-every", "0", "-set", "factor=2", "-set", "cooldown=0", "-joint=false"}
	o := mustRun(t, "", append(args, "-steps", "2")...)
	if !strings.Contains(o.stderr, "learning rate:    paper:") {
		t.Errorf("standard error:\n%s", o.stderr)
	}
	mustRun(t, "", append(args, "-steps", "3", "-resume")...)
	mustRun(t, "", "train", "-src", src, "-tgt", tgt, "-o", m, "-steps", "4", "-resume")
	mustFail(t, runTFM(t, "", append(args, "-steps", "5", "-resume", "-dropout", "0.25")...), 2, "-dropout 0.25 conflicts", "-dropout 0.2")
}

func TestConfigErrors(t *testing.T) {
	for content, want := range map[string]string{
		"steps = 10\nstep = 3":             ":2: unknown setting \"step\"; did you mean \"steps\"?",
		"steps = ten":                      `:1: -steps is "ten", expected a whole number, without commas`,
		"dropout = a lot":                  ":1: -dropout is \"a lot\"",
		"\n# x\nsteps = 1\n steps=2":       ":4: steps is set twice, first in ",
		"steps 10":                         `:1: found "steps 10", expected name = value`,
		"resume = true":                    ":1: resume is not a setting",
		"config = other":                   ":1: config is not a setting",
		"norm = sideways":                  `norm is "sideways", expected post, pre or deep`,
		`src = "a`:                         ":1: src =  \"a: missing closing quote",
		`src = "a" b`:                      `found "b" after the quotes`,
		"steps = -1":                       "steps is -1",
		"time = -5m":                       "-time is -5m0s, expected 0 or more",
		"lr = 0.1\nfactor = 2":             "either -lr or the setting factor",
		"preset = huge":                    `:1: -preset is "huge", expected base, big`,
		"= 3":                              `:1: unknown setting ""`,
		"time = 15":                        ":1: -time is 15",
		"seed = 1 # one\nseed = 2 # again": ":2: seed is set twice",
	} {
		path := write(t, "run.conf", content+"\n")
		mustFail(t, runTFM(t, "", "train", "-config", path, "-dump-config"), 2, want)
	}
	mustFail(t, runTFM(t, "", "train", "-config", filepath.Join(t.TempDir(), "none"), "-dump-config"), 1, "none")
	mustFail(t, runTFM(t, "", "train", "-config", write(t, "run.conf", "steps = 1\n")), 2, "-src and -tgt are missing")
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

// Nothing is made on the disk.
func TestDumpTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	dump(t, "-tensorboard", filepath.Join(dir, "events"), "-o", filepath.Join(dir, "m.safetensors"))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("-dump-config has left %v, %v; want nothing", left, err)
	}
}
