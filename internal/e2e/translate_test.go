package e2e

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
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
	file, missing := write(t, "f", "the big cat\nthe old dog\n"), filepath.Join(t.TempDir(), "none")
	o := runTFM(t, "", "translate", "-model", m, file, missing)
	mustFail(t, o, 1, missing)
	if o.stdout != want {
		t.Errorf("answered %q, want %q", o.stdout, want)
	}
}

// Translation continues after invalid UTF-8 and after a line that is too long, which are errors in
// training.
func TestTranslateContinuesAfterABadLine(t *testing.T) {
	m := toyModel(t)
	want := mustRun(t, "the big cat\n\uFFFD\nthe old dog\n", "translate", "-model", m).stdout
	o := mustRun(t, "the big cat\n\xff\nthe old dog\n", "translate", "-model", m)
	if o.stdout != want {
		t.Errorf("answered %q, want %q", o.stdout, want)
	}
	if o.stderr != "tfm: standard input:2: invalid UTF-8 at byte 1, replaced by U+FFFD\n" {
		t.Errorf("warned %q", o.stderr)
	}

	file := write(t, "f", "the big cat\n"+strings.Repeat("x", 1<<20+1)+"\nthe old dog\n")
	flags := []string{"translate", "-model", m, "-beam", "1", "-set", "max-extra=0", "-set", "max-source=10"}
	good := strings.Split(mustRun(t, "the big cat\nthe old dog\n", flags...).stdout, "\n")
	o = mustRun(t, "", append(flags, file)...)
	if lines := strings.Split(o.stdout, "\n"); len(lines) != 4 || lines[0] != good[0] || lines[2] != good[1] {
		t.Errorf("answered %q, want %q and a line between them", o.stdout, good)
	}
	mustHave(t, o.stderr, "tfm: "+file+":2: line of 1048577 bytes truncated to 1048576\ntfm: "+file+":2: ")
}

// The first ten warnings of a kind are shown, and then their number; of truncated lines only the
// first is.
func TestTranslateCountsWarnings(t *testing.T) {
	m := toyModel(t)
	o := mustRun(t, strings.Repeat("\xff\n", 25)+strings.Repeat("the dog \n", 12), "translate", "-model", m, "-set", "max-source=1", "-beam", "1")
	lines := strings.Split(o.stderr, "\n")
	if strings.Count(o.stdout, "\n") != 37 || strings.Count(o.stderr, "invalid UTF-8 at byte 1") != 10 || !slices.Contains(lines, "tfm: 25 lines of invalid UTF-8 in total") {
		t.Errorf("standard error:\n%s\nwant ten lines of 25 with invalid UTF-8", o.stderr)
	}
	const first = " tokens, truncated to 1; put shorter sentences on separate lines, or give a larger max-source"
	if strings.Count(o.stderr, first) != 10 || !slices.Contains(lines, "tfm: 37 lines with too many tokens in total") {
		t.Errorf("standard error:\n%s\nwant ten of 37 truncated lines, and their number", o.stderr)
	}

	// Within the limit of the flag, but not of the model.
	long := write(t, "long", strings.Repeat("the big cat sees ", 400)+"\nthe dog\n")
	o = mustRun(t, "", "translate", "-model", m, "-beam", "1", "-set", "max-extra=5", "-set", "max-source=5000", long)
	if want := "tfm: " + long + ":1: "; !strings.HasPrefix(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 ||
		!strings.Contains(o.stderr, "truncated to 1023; put shorter sentences on separate lines, or train a model with a larger -max-len\n") {
		t.Errorf("standard error = %q, want one line that begins with %q and names the limit 1023", o.stderr, want)
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

	// Every line of input becomes one line of output, also if its text is unlike the training
	// data.
	odd := "\x00\x01 \u2028 \u0085 \v\f 日本語 🙂\n"
	if o := mustRun(t, strings.Repeat(odd, 3), "translate", "-model", m); strings.Count(o.stdout, "\n") != 3 || strings.Contains(o.stdout, "\r") {
		t.Errorf("%q", o.stdout)
	}
}

// startWithPipes starts c and returns its standard input and output.
func startWithPipes(t *testing.T, c *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := c.StdinPipe()
	noError(t, err)
	if out, err = c.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	noError(t, c.Start())
	return in, out
}

// In a pipe each line is answered before the next one is written.
func TestTranslateAnswersAtOnce(t *testing.T) {
	c := tfm("translate", "-model", toyModel(t))
	in, out := startWithPipes(t, c)
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

// list is the lines of an n-best list, the fields of each.
func list(t *testing.T, stdout string) [][]string {
	t.Helper()
	var lines [][]string
	for _, l := range strings.Split(strings.TrimSuffix(stdout, "\n"), "\n") {
		fields := strings.SplitN(l, "\t", 3)
		if len(fields) != 3 {
			t.Fatalf("not a line of a list: %q", l)
		}
		lines = append(lines, fields)
	}
	return lines
}

func TestNBestLists(t *testing.T) {
	m := toyModel(t)
	const input = "the big cat sees the dog\n\nthe old dog\nthe\n"
	best := strings.Split(mustRun(t, input, "translate", "-model", m, "-beam", "6", "-set", "alpha=1", "-set", "length-penalty=power").stdout, "\n")
	flags := []string{"translate", "-model", m, "-beam", "6", "-set", "alpha=1", "-set", "length-penalty=power", "-nbest", "3"}
	o := mustRun(t, input, flags...)
	count := map[string]int{}
	last := math.Inf(1)
	for _, l := range list(t, o.stdout) {
		i, err := strconv.Atoi(l[0])
		score, err2 := strconv.ParseFloat(l[1], 64)
		if err != nil || err2 != nil || i > 3 {
			t.Fatalf("%q", l)
		}
		if count[l[0]]++; count[l[0]] == 1 && l[2] != best[i] {
			t.Errorf("the first of line %d is %q, the translation %q", i, l[2], best[i])
		}
		if count[l[0]] > 1 && score > last {
			t.Errorf("scores rise: %q", l)
		}
		last = score
	}
	if count["0"] != 3 || count["1"] != 1 || count["2"] != 3 || count["3"] != 3 {
		t.Errorf("%v translations of each line:\n%s", count, o.stdout)
	}
}

func TestSampling(t *testing.T) {
	m := toyModel(t)
	flags := []string{"translate", "-model", m, "-sample", "-set", "temperature=2", "-set", "top-k=50", "-set", "top-p=0.95"}
	input := strings.Repeat("the big cat sees the dog\n", 30) + "\nthe old dog\n"
	o := mustRun(t, input, append(flags, "-seed", "7")...)
	lines := strings.Split(o.stdout, "\n")
	if len(lines) != 33 || lines[30] != "" {
		t.Fatalf("%q", lines)
	}
	different := map[string]bool{}
	for _, l := range lines[:30] {
		different[l] = true
	}
	if len(different) < 3 {
		t.Errorf("thirty draws gave only %v", different)
	}
	// Empty lines are not counted, and neither is what other sentences say.
	other := strings.Repeat("\n", 5) + strings.Repeat("the dog\n", 30) + "the old dog\n"
	if again := strings.Split(mustRun(t, other, append(flags, "-seed", "7")...).stdout, "\n"); again[35] != lines[31] {
		t.Errorf("after other sentences %q, want %q", again[35], lines[31])
	}
	if again := mustRun(t, input, append(flags, "-seed", "8")...); again.stdout == o.stdout {
		t.Error("another seed draws the same")
	}
	if l := list(t, mustRun(t, "the dog\n\n", append(flags, "-nbest", "20")...).stdout); len(l) != 21 || l[19][0] != "0" || l[20][0] != "1" || l[20][2] != "" {
		t.Errorf("twenty draws: %q", l)
	}
}

func TestNobodyReads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGPIPE")
	}
	r, w, err := os.Pipe()
	noError(t, err)
	r.Close()
	var stderr bytes.Buffer
	c := tfm("translate", "-model", toyModel(t), toy.testSrc)
	c.Stdout, c.Stderr = w, &stderr
	if err := c.Run(); err == nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr.String())
	}
	w.Close()
}

// -o writes what standard output would show, "-" is standard input among files, and flags may
// follow them.
func TestTranslateToFile(t *testing.T) {
	m, input := toyModel(t), read(t, toy.testSrc)
	want := mustRun(t, input, "translate", "-model", m).stdout
	out := write(t, "out", "old")
	if o := mustRun(t, input, "translate", toy.testSrc, "-", "-set", "any-bits=true", "-o", out, "-model", m); o.stdout != "" || read(t, out) != want+want {
		t.Errorf("standard output is %q, and the file\n%s\nwant\n%s", o.stdout, read(t, out), want+want)
	}
	mustRun(t, input, "translate", "-o", os.DevNull, "-model", m)
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s has been replaced by %v, %v", os.DevNull, info, err)
	}
	mustFail(t, runTFM(t, "", "translate", "-o", out, "-model", m, "missing"), 1, "missing")
	kept := write(t, "kept", "old")
	mustFail(t, runTFM(t, "", "translate", "-o", kept, "-model", "missing"), 1, "missing does not exist")
	if read(t, kept) != "old" {
		t.Errorf("after an error the file holds %q", read(t, kept))
	}
}
