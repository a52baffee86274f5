package main

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestDamagedModel(t *testing.T) {
	whole := read(t, toyModel(t))
	altered := []byte(whole)
	altered[len(altered)/2] ^= 1
	for _, c := range []struct {
		name, content string
		wants         []string
	}{
		{"altered", string(altered), []string{"checksum"}},
		{"truncated", whole[:len(whole)-1000], nil},
		{"only a part of the header", whole[:100], nil},
		{"empty", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "m.safetensors", c.content)
			for _, command := range []string{"translate", "info"} {
				mustFail(t, runTFM(t, "a\n", command, "-model", path), 1, append(c.wants, path)...)
			}
			mustFail(t, runTFM(t, "", "eval", "-model", path, "-src", toy.testSrc, "-ref", toy.testTgt), 1, append(c.wants, path)...)
		})
	}
}

func TestTranslateAnswersWhatComesBeforeAnError(t *testing.T) {
	m := toyModel(t)
	want := mustRun(t, "the big cat\nthe old dog\n", "translate", "-model", m).stdout
	o := runTFM(t, "the big cat\nthe old dog\n\xff\xfe\nthe car\n", "translate", "-model", m)
	mustFail(t, o, 1, "standard input:3: invalid UTF-8")
	if o.stdout != want {
		t.Errorf("answered %q, want %q", o.stdout, want)
	}
	file := write(t, "f", "the big cat\nthe old dog\n\xff\n")
	o = runTFM(t, "", "translate", "-model", m, file)
	mustFail(t, o, 1, file+":3: invalid UTF-8")
	if o.stdout != want {
		t.Errorf("answered %q, want %q", o.stdout, want)
	}
}

func TestTranslateOddLines(t *testing.T) {
	m := toyModel(t)
	if o := mustRun(t, "", "translate", "-model", m); o.stdout != "" {
		t.Errorf("of nothing came %q", o.stdout)
	}
	o := mustRun(t, "\n \nthe big cat\r\n\t\nthe old dog", "translate", "-model", m)
	want := mustRun(t, "the big cat\nthe old dog\n", "translate", "-model", m).stdout
	if lines := strings.SplitAfter(want, "\n"); o.stdout != "\n\n"+lines[0]+"\n"+lines[1] {
		t.Errorf("%q", o.stdout)
	}

	o = mustRun(t, "the dog\nthe big cat sees the old dog sees the old dog\n", "translate", "-model", m, "-max-len", "8")
	if strings.Count(o.stdout, "\n") != 2 || !strings.Contains(o.stderr, "tfm: standard input:2: ") || !strings.Contains(o.stderr, "cut to 8") {
		t.Errorf("a line that is too long: %q, %s", o.stdout, o.stderr)
	}
	long := strings.Repeat("the big cat sees ", 1000)
	if o := mustRun(t, long, "translate", "-model", m, "-beam", "1", "-max-extra", "0"); strings.Count(o.stdout, "\n") != 1 || !strings.Contains(o.stderr, "cut to 1023") {
		t.Errorf("a line longer than the model can take: %q, %s", o.stdout, o.stderr)
	}
	// Whatever a model says, a line of input is a line of output: this text is unlike anything it was trained on.
	odd := "\x00\x01 \u2028 \u0085 \v\f 日本語 🙂\n"
	if o := mustRun(t, strings.Repeat(odd, 3), "translate", "-model", m); strings.Count(o.stdout, "\n") != 3 || strings.Contains(o.stdout, "\r") {
		t.Errorf("%q", o.stdout)
	}
}

// A pipe in which each question waits for the answer to the one before.
func TestTranslateAnswersAtOnce(t *testing.T) {
	c := tfm("translate", "-model", toyModel(t))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"the big cat", "", "the old dog"} {
		if _, err := io.WriteString(in, q+"\n"); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 1000)
		n, err := out.Read(answer)
		if err != nil || answer[n-1] != '\n' {
			t.Fatalf("%q, %v", answer[:n], err)
		}
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestNobodyReads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no SIGPIPE")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var stderr bytes.Buffer
	c := tfm("translate", "-model", toyModel(t), toy.testSrc)
	c.Stdout, c.Stderr = w, &stderr
	if err := c.Run(); err == nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr.String())
	}
	w.Close()
}
