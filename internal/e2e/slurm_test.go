package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// slurm starts a cluster of two nodes and returns a function that runs a script of scale/slurm on
// it with a program in the place of tfm.
func slurm(t *testing.T) (dir string, run func(program, script string, args ...string) output) {
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "munged"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("optional: needs Slurm (apt-get install slurmctld slurmd slurm-client munge)")
		}
	}
	if os.Getuid() != 0 {
		t.Skip("optional: needs root, as whom Slurm's daemons run")
	}
	scripts, err := filepath.Abs("../../scale/slurm")
	noError(t, err)
	dir = t.TempDir()
	cluster := func(what string) output {
		return finish(t, exec.Command(filepath.Join(scripts, "cluster.sh"), what, filepath.Join(dir, "cluster")))
	}
	t.Cleanup(func() { cluster("stop") })
	if o := cluster("start"); o.code != 0 {
		t.Fatalf("starting Slurm: exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	return dir, func(program, script string, args ...string) output {
		c := exec.Command(filepath.Join(scripts, script), args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "cluster", "slurm.conf"), "TFM="+program, "TFM_TMP="+dir)
		return finish(t, c)
	}
}

// scale/slurm makes what a pipe and train -plan make, although each task fails first.
func TestScaleSlurm(t *testing.T) {
	m, in := toyModel(t), shardInput(t)
	plan := planToy(t, "-workers", "2", "-local-steps", "4", "-rounds", "2")
	dir, run := slurm(t)
	flaky := write(t, "flaky", fmt.Sprintf("#!/bin/sh\nif mkdir %s/$SLURM_JOB_ID.tried 2>/dev/null; then exit 75; fi\n[ $1 != translate ] || set -- \"$@\" -set any-bits=true\nexec %s \"$@\"\n", dir, program()))
	noError(t, os.Chmod(flaky, 0o777))
	if o := run(flaky, "translate.sh", m, in, "out", "3", "-beam", "4"); o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	if read(t, filepath.Join(dir, "out")) != mustRun(t, read(t, in), "translate", "-model", m, "-beam", "4").stdout {
		t.Error("other bytes than a pipe")
	}
	first := filepath.Join(dir, "out.shards", "1.done")
	before, err := os.Stat(first)
	noError(t, err)
	if o := run(program(), "translate.sh", m, in, "out", "3", "-beam", "4"); o.code != 0 {
		t.Errorf("a further run: exit code %d\n%s", o.code, o.stderr)
	}
	if after, err := os.Stat(first); err != nil || !os.SameFile(before, after) {
		t.Errorf("a further run translated again: %v", err)
	}

	if o := run(flaky, "train.sh", plan); o.code != 0 {
		t.Fatalf("train.sh: exit code %d\n%s", o.code, o.stderr)
	}
	want := planToy(t, "-workers", "2", "-local-steps", "4", "-rounds", "2")
	mustRun(t, "", "train", "-plan", want)
	sameFiles(t, filepath.Join(plan, "model.safetensors"), filepath.Join(want, "model.safetensors"), "the model differs from that of train -plan")
	tried, _ := filepath.Glob(filepath.Join(dir, "*.tried"))
	if len(tried) != 3+2*(2+1) {
		t.Errorf("%d tasks failed first, want 9", len(tried))
	}
	logs, _ := filepath.Glob(filepath.Join(plan+".logs", "*"))
	for _, log := range logs {
		if s := read(t, log); strings.Contains(s, "slurm_script:") {
			t.Errorf("%s: %s", log, s)
		}
	}
}
