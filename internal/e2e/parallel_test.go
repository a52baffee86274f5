package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scale/parallel makes what a pipe makes, although attempts fail, and a further run translates
// nothing.
func TestScaleParallel(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("optional: needs GNU parallel (apt-get install parallel)")
	}
	script, err := filepath.Abs("../../scale/parallel/translate.sh")
	noError(t, err)
	m, in, dir := toyModel(t), shardInput(t), t.TempDir()
	want := mustRun(t, read(t, in), "translate", "-model", m).stdout
	// The first attempt at each shard fails: with an exit code, or killed.
	flaky := fmt.Sprintf("#!/bin/sh\nshard=$(echo \"$*\" | sed 's/.* -shard \\([0-9]*\\).*/\\1/')\nif mkdir %[1]s/shard$shard 2>/dev/null; then\n"+
		"\t[ $((shard %% 2)) = 0 ] || exit 75\n\t%[2]s \"$@\" & kill -9 $!; wait $!; exit 137\nfi\nexec %[2]s \"$@\" -set any-bits=true\n", dir, program())
	noError(t, os.WriteFile(filepath.Join(dir, "tfm"), []byte(flaky), 0o777))
	run := func(out string) output {
		c := exec.Command(script, m, in, out, "10", "-beam", "4", "--", "--jobs", "2", "--will-cite")
		c.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+dir)
		return finish(t, c)
	}
	out := filepath.Join(dir, "out")
	if o := run(out); o.code != 0 || read(t, out) != want {
		t.Fatalf("exit code %d, or other bytes than a pipe:\n%s", o.code, o.stderr)
	}
	if failed, _ := filepath.Glob(filepath.Join(dir, "shard*")); len(failed) != 10 {
		t.Errorf("%d shards failed at first, want 10", len(failed))
	}
	first := filepath.Join(out+".shards", "01.done")
	before, err := os.Stat(first)
	noError(t, err)
	if o := run(out); o.code != 0 || read(t, out) != want {
		t.Errorf("a further run: exit code %d, or other bytes", o.code)
	}
	if after, err := os.Stat(first); err != nil || !os.SameFile(before, after) {
		t.Errorf("a further run translated again: %v", err)
	}
	// Without a record a shard counts as missing, and a wrong number of lines is found.
	broken := filepath.Join(out+".shards", "02.done")
	record := read(t, broken)
	noError(t, os.WriteFile(broken, []byte(strings.Replace(record, `"lines_out": `, `"lines_out": 9`, 1)), 0o666))
	if o := run(out); o.code != 1 || !strings.Contains(o.stderr, "lines, expected") {
		t.Errorf("a record of other lines: exit code %d, %s", o.code, o.stderr)
	}
}

// scale/parallel/train.sh makes what train -plan makes, by logins that begin in another folder.
// Like sshd, ssh here sets SHELL, without which parallel runs nothing and succeeds.
func TestScaleParallelRounds(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("optional: needs GNU parallel (apt-get install parallel)")
	}
	script, err := filepath.Abs("../../scale/parallel/train.sh")
	noError(t, err)
	plan := []string{"-workers", "3", "-local-steps", "4", "-rounds", "2"}
	want, dir, bin := planToy(t, plan...), planToy(t, plan...), binFolder(t)
	mustRun(t, "", "train", "-plan", want)
	ssh := filepath.Join(bin, "ssh")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\nexport SHELL=/bin/sh\ncd /\nwhile [ \"$1\" != there ]; do shift; done\nshift\n[ \"$1\" != -- ] || shift\nexec sh -c \"$*\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(script, filepath.Base(dir), "--ssh", ssh, "--sshlogin", "2/there", "--will-cite")
	c.Dir = filepath.Dir(dir)
	c.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+bin)
	if o := finish(t, c); o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	sameFiles(t, filepath.Join(dir, "model.safetensors"), filepath.Join(want, "model.safetensors"), "the model differs from that of train -plan")
}

// binFolder returns a folder of the test's own with tfm.
func binFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	noError(t, os.Symlink(program(), filepath.Join(dir, "tfm")))
	return dir
}
