package e2e

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// faulty returns n pairs, their sources and their targets, with some faults by line number.
func faulty(n int) (src, tgt []string, faults map[int]string) {
	src, tgt = texttest.Pairs(n)
	faults = map[int]string{}
	add := func(i int, fault, s, t string) { src[i], tgt[i], faults[i+1] = s, t, fault }
	add(10, "utf8", src[10]+"\xff", tgt[10])
	add(20, "empty", "", tgt[20])
	add(30, "empty", src[30], "  ")
	add(40, "mojibake", src[40], tgt[40]+" cafÃ©")
	add(50, "control", src[50]+"\x02", tgt[50])
	add(60, "markup", src[60], "<i>"+tgt[60]+"</i>")
	add(70, "length", strings.Repeat(src[70], 60), strings.Repeat(tgt[70]+" ", 60))
	add(80, "copies", tgt[80], tgt[80])
	add(90, "script", "Он "+strings.ToLower("ЧИТАЕТ КНИГУ"), tgt[90])
	add(100, "numbers", src[100]+"1998", tgt[100]+" 1989")
	add(110, "duplicates", src[5], tgt[5])
	return src, tgt, faults
}

// count is the start of a line of a table.
func count(name string, n int) string { return fmt.Sprintf("%-26s%15d", name, n) }

func lines(list []string) string { return strings.Join(list, "\n") + "\n" }

// kept returns the lines without a fault.
func kept(list []string, faults map[int]string) (good []string) {
	for i, s := range list {
		if faults[i+1] == "" {
			good = append(good, s)
		}
	}
	return good
}

func TestClean(t *testing.T) {
	src, tgt, faults := faulty(600)
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder")
	srcFile, tgtFile, dropped := filepath.Join(dir, "a.zh"), filepath.Join(dir, "a.en.gz"), filepath.Join(dir, "dropped.tsv")
	for name, content := range map[string]string{srcFile: lines(src), tgtFile: packed(lines(tgt))} {
		noError(t, os.WriteFile(name, []byte(content), 0o666))
	}
	o := mustRun(t, "", "clean", "-src", srcFile, "-tgt", tgtFile, "-o", out, "-dropped", dropped)
	mustHave(t, o.stderr, count("pairs", 600)+"  100.000 %\n", count("  empty side", 2)+"    0.333 %\n", count("  duplicate", 1)+"    0.167 %\n",
		count("kept", 589)+"   98.167 %\n", "misaligned was not judged: the sample of 5")
	if got := read(t, filepath.Join(out, "a.zh")); got != lines(kept(src, faults)) {
		t.Errorf("sources:\n%s", got)
	}
	r, err := gzip.NewReader(strings.NewReader(read(t, filepath.Join(out, "a.en.gz"))))
	noError(t, err)
	if got, err := io.ReadAll(r); err != nil || string(got) != lines(kept(tgt, faults)) {
		t.Errorf("targets (%v):\n%s", err, got)
	}
	found := map[int]string{}
	for _, l := range strings.Split(strings.TrimSuffix(read(t, dropped), "\n"), "\n") {
		var line int
		columns := strings.Split(l, "\t")
		if fmt.Sscan(columns[0], &line); len(columns) != 4 {
			t.Errorf("dropped line %q", l)
			continue
		}
		found[line] = columns[1]
	}
	if fmt.Sprint(found) != fmt.Sprint(faults) {
		t.Errorf("faults %v, want %v", found, faults)
	}

	// A TSV file, with a line that is no pair, and the same result.
	var b strings.Builder
	for i := range src {
		b.WriteString(src[i] + "\t" + tgt[i] + "\n")
	}
	tsv := write(t, "a.tsv", b.String()+"a\tb\tc\n")
	o = mustRun(t, "", "clean", "-tsv", tsv, "-o", out, "-threads", "3")
	if got := read(t, filepath.Join(out, "a.tsv")); strings.Count(got, "\n") != 589 {
		t.Errorf("%d lines\n%s", strings.Count(got, "\n"), o.stderr)
	}
	mustHave(t, o.stderr, count("  not source, tab, target", 1))
	if dry := mustRun(t, "", "clean", "-tsv", tsv, "-dry-run"); dry.stdout != o.stderr || dry.stderr != "" {
		t.Errorf("with -dry-run:\n%s%s\nwithout:\n%s", dry.stdout, dry.stderr, o.stderr)
	}
	mustFail(t, runTFM(t, "", "clean", "-tsv", tsv, "-dry-run", "-set", "column-count=false"), 1, tsv+":601: found 3 columns, expected 2: source, tab, target")

	if left, err := filepath.Glob(filepath.Join(out, ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v, %v", left, err)
	}
}

// Hostile lines are counted or refused, with one line.
func TestCleanHostile(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	src := write(t, "src", "a dog\n"+long+"\nthe dog\x00\n\xed\xa0\xbd\xed\xb8\x80 dog\r\n\xef\xbf\xbe\nlast dog")
	tgt := write(t, "tgt", "ein Hund\nein Hund\nder Hund\nHund\nHunde\nletzter Hund")
	dropped := filepath.Join(t.TempDir(), "dropped.gz")
	o := mustRun(t, "", "clean", "-src", src, "-tgt", tgt, "-dry-run", "-dropped", dropped)
	mustHave(t, o.stdout, count("  invalid UTF-8", 1), count("  too short or too long", 1), count("  control characters", 2), count("kept", 2))
	short := write(t, "short", "ein Hund\nein Hund\n")
	out := t.TempDir()
	mustFail(t, runTFM(t, "", "clean", "-src", src, "-tgt", short, "-o", out), 1, "tfm: unequal line counts: "+src+" has 6, "+short+" has 2")
	same := filepath.Join(out, filepath.Base(src))
	mustFail(t, runTFM(t, "", "clean", "-src", src, "-tgt", short, "-o", out, "-dropped", same), 2, "two outputs are written to "+same)
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("files after errors: %v, %v", left, err)
	}
	for _, args := range [][]string{{"-src", src}, {"-src", src, "-tgt", tgt}, {"-tsv", src, "-o", out, "-dry-run"}, {"-tsv", src, "-o", filepath.Dir(src)}, {"-src", src, "-tgt", tgt, "-dry-run", "-dropped", tgt}} {
		mustFail(t, runTFM(t, "", append([]string{"clean"}, args...)...), 2)
	}
}

func TestHoldOut(t *testing.T) {
	src, tgt, _ := faulty(1500)
	for i := range src { // valid pairs only
		src[i], tgt[i] = strings.ToValidUTF8(src[i], ""), strings.TrimSpace(tgt[i])
		if i%3 == 2 { // resembles the line before
			src[i] = "na " + src[i-1]
		}
	}
	dir := t.TempDir()
	srcFile, tgtFile := write(t, "all.zh", lines(src)), write(t, "all.en", lines(tgt))
	removed := filepath.Join(dir, "removed.tsv")
	args := []string{"hold-out", "-src", srcFile, "-tgt", tgtFile, "-valid", "30", "-test", "20", "-similarity", "0.4", "-o", dir}
	mustRun(t, "", append(args, "-dropped", removed)...)
	read3 := func(side string) (sets [3][]string) {
		for i, set := range []string{"train", "valid", "test"} {
			sets[i] = strings.Split(strings.TrimSuffix(read(t, filepath.Join(dir, set+"."+side)), "\n"), "\n")
		}
		return sets
	}
	zh, en := read3("zh"), read3("en")
	gone := strings.Count(read(t, removed), "\n")
	if len(zh[1]) != 30 || len(en[1]) != 30 || len(zh[2]) != 20 || len(en[2]) != 20 || len(zh[0]) != 1450-gone || len(en[0]) != len(zh[0]) || gone == 0 {
		t.Errorf("%d, %d and %d pairs, %d removed", len(zh[0]), len(zh[1]), len(zh[2]), gone)
	}
	for _, s := range slices.Concat(zh[1], zh[2]) {
		if slices.Contains(zh[0], s) {
			t.Errorf("%s is also in training", s)
		}
	}
	before := read(t, filepath.Join(dir, "valid.en"))
	mustRun(t, "", args...)
	if read(t, filepath.Join(dir, "valid.en")) != before {
		t.Error("a second call holds out other pairs")
	}
	mustRun(t, "", append(args, "-seed", "2", "-test", "0")...)
	if read(t, filepath.Join(dir, "valid.en")) == before {
		t.Error("another seed holds out the same pairs")
	}
	mustFail(t, runTFM(t, "", append(args, "-valid", "3000")...), 1, "of 1500 pairs that do not resemble each other, expected at least 3020 to hold out")
	invalid := write(t, "x.tsv", "a\tb\n\xff\tc\n")
	mustFail(t, runTFM(t, "", "hold-out", "-tsv", invalid, "-o", dir), 1, invalid+":2: invalid UTF-8")
}

// A command that fails leaves no new folder.
func TestNoFolderAfterFailure(t *testing.T) {
	tsv := write(t, "bad.tsv.gz", "no gzip")
	src, short := write(t, "src", "a\nb\n"), write(t, "short", "a\n")
	dir := t.TempDir()
	out := filepath.Join(dir, "new", "folder")
	for _, args := range [][]string{
		{"clean", "-tsv", tsv, "-o", out},
		{"clean", "-src", src, "-tgt", short, "-o", out, "-dropped", filepath.Join(dir, "missing", "file")},
		{"hold-out", "-tsv", tsv, "-o", out},
		{"export", "-format", "marian", "-o", out, toyModel(t)},
		{"train", "-src", src, "-tgt", short, "-o", filepath.Join(dir, "m.safetensors"), "-tensorboard", out},
		{"report", "-run", dir, "-o", filepath.Join(out, "report.html")},
	} {
		mustFail(t, runTFM(t, "", args...), 1)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", args[0], left, err)
		}
	}
}
