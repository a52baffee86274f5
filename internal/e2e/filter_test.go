package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// As a filter in an empty environment tfm translate answers each line with one line.
func TestFilter(t *testing.T) {
	lines := []string{"the cat sees a dog", "", " ", "\xff\xfe", "a\x00b", "tab\there", "para\u2029graph", strings.Repeat("dog ", 2000), "the last dog"}
	c := tfm("translate", "-model", toyModel(t), "-threads", "1")
	c.Env, c.Stdin = []string{}, strings.NewReader(strings.Join(lines, "\n"))
	o := finish(t, c)
	if got := strings.Count(o.stdout, "\n"); o.code != 0 || got != len(lines) {
		t.Errorf("exit code %d and %d lines, want 0 and %d:\n%s", o.code, got, len(lines), o.stderr)
	}
}

// scale/snakemake makes what a pipe makes, and makes nothing again.
func TestScaleSnakemake(t *testing.T) {
	if _, err := exec.LookPath("snakemake"); err != nil {
		t.Skip("optional: needs Snakemake (apt-get install snakemake)")
	}
	file, err := filepath.Abs("../../scale/snakemake/Snakefile")
	noError(t, err)
	m, in, dir := toyModel(t), shardInput(t), t.TempDir()
	bin := binFolder(t)
	for _, out := range []string{"out", "out.gz"} {
		run := func() output {
			c := exec.Command("snakemake", "-s", file, "--cores", "2", "--config", "model="+m, "text="+in, "out="+out, "shards=10", "flags=-beam 4 -set any-bits=true")
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+bin)
			return finish(t, c)
		}
		if o := run(); o.code != 0 {
			t.Fatalf("exit code %d\n%s", o.code, o.stderr)
		}
		if o := run(); o.code != 0 || !strings.Contains(o.stderr, "Nothing to be done") {
			t.Errorf("a further run: exit code %d\n%s", o.code, o.stderr)
		}
	}
	got := read(t, filepath.Join(dir, "out"))
	if want := mustRun(t, read(t, in), "translate", "-model", m, "-beam", "4").stdout; got != want {
		t.Error("other bytes than a pipe")
	}
}
