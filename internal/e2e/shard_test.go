package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// done is what a test reads of OUT.done.
type done struct {
	Shard    string
	LinesIn  int `json:"lines_in"`
	LinesOut int `json:"lines_out"`
	Failed   int
	Output   struct{ SHA256 string }
	Warnings map[string]int
}

func readDone(t *testing.T, out string) (d done) {
	t.Helper()
	noError(t, json.Unmarshal([]byte(read(t, out+".done")), &d))
	return d
}

// onlyFiles reports files in a folder besides those named.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if got, want := strings.Join(found, " "), strings.Join(names, " "); got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}
}

// shardInput returns lines to translate, among them one of invalid UTF-8 and an empty one.
func shardInput(t *testing.T) string {
	return write(t, "in", strings.Repeat(read(t, toy.testSrc), 3)+"the \xff cat\n\nthe last dog")
}

// The parts of a file are together what a pipe makes of it, in any number, gzipped or not, and in
// two attempts at once.
func TestShards(t *testing.T) {
	m, in, dir := toyModel(t), shardInput(t), t.TempDir()
	want := mustRun(t, read(t, in), "translate", "-model", m).stdout
	for _, n := range []int{1, 3, 50} {
		var outs []string
		var wait sync.WaitGroup
		for i := range n {
			out := filepath.Join(dir, fmt.Sprintf("%d.%d.gz", n, i))
			outs = append(outs, out)
			for range min(2, 51/n) {
				wait.Go(func() {
					if o := runTFM(t, "", "translate", "-set", "any-bits=true", "-model", m, "-shard", fmt.Sprintf("%d/%d", i+1, n), "-o", out, in); o.code != 0 {
						t.Errorf("exit code %d: %s", o.code, o.stderr)
					}
				})
			}
			if n == 50 {
				wait.Wait()
			}
		}
		wait.Wait()
		all, linesIn, linesOut, repaired := "", 0, 0, 0
		for i, out := range outs {
			z, err := gzip.NewReader(strings.NewReader(read(t, out)))
			noError(t, err)
			part, err := io.ReadAll(z)
			noError(t, err)
			d := readDone(t, out)
			if d.Shard != fmt.Sprintf("%d/%d", i+1, n) || d.LinesOut != bytes.Count(part, []byte("\n")) {
				t.Errorf("part %d of %d: %+v", i+1, n, d)
			}
			all, linesIn, linesOut = all+string(part), linesIn+d.LinesIn, linesOut+d.LinesOut
			repaired += d.Warnings["lines of invalid UTF-8"]
		}
		if all != want || linesIn != strings.Count(want, "\n") || linesOut != linesIn || repaired != 1 {
			t.Errorf("%d parts have %d lines of %d, %d repaired, or other bytes", n, linesOut, linesIn, repaired)
		}
	}
}

// A shard that is done stays as it is, also if its files are copied, until one of them changes.
func TestDoneShardStays(t *testing.T) {
	m, in, dir := toyModel(t), shardInput(t), t.TempDir()
	out := filepath.Join(dir, "out")
	run := func(flags ...string) (changed bool) {
		t.Helper()
		before, _ := os.Stat(out + ".done")
		mustRun(t, "", append([]string{"translate", "-set", "any-bits=true", "-model", m, "-o", out, in}, flags...)...)
		after, err := os.Stat(out + ".done")
		noError(t, err)
		return before == nil || !os.SameFile(before, after)
	}
	for _, step := range []struct {
		what    string
		do      func() error
		flags   []string
		changed bool
	}{
		{"at first", func() error { return nil }, nil, true},
		{"again", func() error { return nil }, nil, false},
		{"with hashes", func() error { return nil }, []string{"-set", "verify=true", "-threads", "1"}, false},
		{"another beam", func() error { return nil }, []string{"-beam", "1"}, true},
		{"a changed input of the same size", func() error {
			return os.WriteFile(in, []byte(strings.Replace(read(t, in), "dog", "cat", 1)), 0o666)
		}, nil, true},
		{"an output cut short", func() error { return os.Truncate(out, 10) }, nil, true},
		{"a record cut short", func() error { return os.Truncate(out+".done", 10) }, nil, true},
	} {
		noError(t, step.do())
		if changed := run(step.flags...); changed != step.changed {
			t.Errorf("%s: translated %v, want %v", step.what, changed, step.changed)
		}
	}
	// A changed byte of an output that keeps its size and time is found by hashes.
	info, err := os.Stat(out)
	noError(t, err)
	want := read(t, out)
	noError(t, os.WriteFile(out, []byte("X"+want[1:]), 0o666))
	noError(t, os.Chtimes(out, info.ModTime(), info.ModTime()))
	if run() || read(t, out) == want || !run("-set", "verify=true") || read(t, out) != want {
		t.Error("-set verify=true did not mend a changed output, or its absence did")
	}
	onlyFiles(t, dir, "out", "out.done")
}

// An input that broke off, or has other lines than expected, leaves the output as it was, and the
// exit code says that another attempt may succeed.
func TestBrokenInputs(t *testing.T) {
	m, dir := toyModel(t), t.TempDir()
	out := filepath.Join(dir, "out")
	noError(t, os.WriteFile(out, []byte("old"), 0o666))
	zipped := packed(read(t, toy.testSrc))
	translate := []string{"translate", "-set", "any-bits=true", "-model", m, "-o", out}
	mustFail(t, runTFM(t, zipped[:len(zipped)-9], translate...), 75, "standard input")
	mustFail(t, runTFM(t, "the cat\nthe dog", append(translate, "-expect", "3")...), 75, "found 2 lines, expected 3")
	mustFail(t, runTFM(t, "", append(translate, filepath.Join(dir, "missing"))...), 1, "missing")
	mustFail(t, runTFM(t, "", translate...), 75, "standard input is empty", "-expect 0")
	if read(t, out) != "old" {
		t.Errorf("the output is %q", read(t, out))
	}
	onlyFiles(t, dir, "out")
	mustRun(t, "", append(translate, "-expect", "0")...)
	mustRun(t, "the cat\nthe dog", append(translate, "-expect", "2")...)
	if d := readDone(t, out); d.LinesIn != 2 || d.LinesOut != 2 || strings.Count(read(t, out), "\n") != 2 {
		t.Errorf("%+v of %q", d, read(t, out))
	}
	mustRun(t, zipped, translate...)

	// Lines without an answer are no reason to try again: the output is there, and says so.
	faulty := write(t, "faulty.jsonl", "{\"text\":\"the cat\"}\n{\"other\":1}\n")
	var before os.FileInfo
	for range 2 {
		mustFail(t, runTFM(t, "", append(translate, "-json", faulty)...), 1, "1 of 2 lines not translated")
		if d := readDone(t, out); d.Failed != 1 || d.LinesOut != 2 || strings.Count(read(t, out), "\n") != 2 {
			t.Errorf("%+v of %q", d, read(t, out))
		}
		info, err := os.Stat(out)
		if err != nil || before != nil && !os.SameFile(before, info) {
			t.Errorf("translated again, %v", err)
		}
		before = info
	}
}

func TestShardFlags(t *testing.T) {
	m, in := toyModel(t), shardInput(t)
	out := filepath.Join(t.TempDir(), "out")
	z := write(t, "in.gz", "\x1f\x8b\x08")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-shard", "1/2", in}, 2, "-shard needs -o"},
		{[]string{"-expect", "2", in}, 2, "-expect needs -o"},
		{[]string{"-o", out, "-shard", "3/2", in}, 2, `-shard is "3/2", expected I/N`},
		{[]string{"-o", out, "-shard", "1/2", in, in}, 2, "-shard needs one file"},
		{[]string{"-o", out, "-shard", "1/2", "-sample", in}, 2, "-shard with -sample needs -key"},
		{[]string{"-o", out, "-set", "any-bits=true", "-shard", "1/2", z}, 1, "a file that is not gzipped"},
	} {
		mustFail(t, runTFM(t, "", append([]string{"translate", "-model", m}, test.args...)...), test.code, test.want)
	}
	c := tfm("translate", "-model", m, "-o", out, in)
	c.Env = append(c.Env, "TFM_CPU=generic")
	mustFail(t, finish(t, c), 2, "its translations differ", "-set", "any-bits=true")
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed run wrote the output")
	}
}
