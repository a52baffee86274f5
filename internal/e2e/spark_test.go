package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spark returns a function that runs a script of scale/spark on two threads.
func spark(t *testing.T) (run func(script string, args ...string) output) {
	out, err := exec.Command("python3", "-c", "import pyspark; print(pyspark.__path__[0])").Output()
	if _, java := exec.LookPath("java"); err != nil || java != nil {
		t.Skip("optional: needs Java and PySpark (pip install pyspark)")
	}
	home := strings.TrimSpace(string(out))
	return func(script string, args ...string) output {
		path, err := filepath.Abs(filepath.Join("../../scale/spark", script))
		noError(t, err)
		c := exec.Command(filepath.Join(home, "bin", "spark-submit"), append([]string{"--master", "local[2,4]", path}, args...)...)
		c.Env = append(os.Environ(), "SPARK_HOME="+home, "SPARK_LOCAL_IP=127.0.0.1", "PYSPARK_PYTHON=python3")
		return finish(t, c)
	}
}

// scale/spark makes what a pipe and train -plan make, although the first attempts fail.
func TestScaleSpark(t *testing.T) {
	run, m, dir := spark(t), toyModel(t), t.TempDir()
	lines := strings.Split(strings.TrimSuffix(read(t, toy.testSrc), "\n"), "\n")
	var in strings.Builder
	for i, line := range lines {
		text, _ := json.Marshal(line)
		fmt.Fprintf(&in, "{\"id\":%d,\"text\":%s}\n", i, text)
	}
	flaky := write(t, "flaky", fmt.Sprintf("#!/bin/sh\nif mkdir %s/tried 2>/dev/null; then head -n 3; exit 0; fi\nexec %s \"$@\"\n", dir, program()))
	table, out := write(t, "in.jsonl", in.String()), filepath.Join(dir, "out.json")
	sampled := []string{"-sample", "-key", "id", "-seed", "7"}
	if o := run("translate.py", append([]string{flaky, m, table, out}, sampled...)...); o.code != 0 {
		t.Fatalf("translate.py: exit code %d\n%s", o.code, o.stderr)
	}
	var want []string
	for line := range strings.Lines(mustRun(t, in.String(), append([]string{"translate", "-model", m, "-json"}, sampled...)...).stdout) {
		want = append(want, translationOf(t, line))
	}
	got := make([]string, len(lines))
	parts, _ := filepath.Glob(filepath.Join(out, "part-*.json"))
	for _, part := range parts {
		for s := bufio.NewScanner(strings.NewReader(read(t, part))); s.Scan(); {
			var row struct{ ID int }
			noError(t, json.Unmarshal(s.Bytes(), &row))
			got[row.ID] += translationOf(t, s.Text()) // each row once
		}
	}
	if !slices.Equal(got, want) {
		t.Error("other translations than a pipe")
	}
	cut := write(t, "cut.json", strings.TrimSuffix(in.String(), "}\n"))
	if o := run("translate.py", program(), m, cut, filepath.Join(dir, "cut.json")); o.code == 0 {
		t.Error("the table ends within a row, and there is no error")
	}

	plan := []string{"-workers", "2", "-local-steps", "4", "-rounds", "2"}
	rounds, once := planToy(t, plan...), planToy(t, plan...)
	mustRun(t, "", "train", "-plan", once)
	if o := run("train.py", program(), rounds); o.code != 0 {
		t.Fatalf("train.py: exit code %d\n%s", o.code, o.stderr)
	}
	sameFiles(t, filepath.Join(rounds, "model.safetensors"), filepath.Join(once, "model.safetensors"), "the model differs from that of train -plan")
}

func translationOf(t *testing.T, line string) string {
	var row struct{ Translation *string }
	if err := json.Unmarshal([]byte(line), &row); err != nil || row.Translation == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return *row.Translation
}
