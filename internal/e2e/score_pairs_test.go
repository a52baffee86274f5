package e2e

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// The scores of two files and of one are the same, for any number of threads, and
// correct translations score higher than others.
func TestScorePairs(t *testing.T) {
	m := toyModel(t)
	src, tgt := read(t, toy.testSrc), read(t, toy.testTgt)
	sources, targets := strings.Split(strings.TrimSpace(src), "\n"), strings.Split(strings.TrimSpace(tgt), "\n")
	out := mustRun(t, "", "score-pairs", "-model", m, "-src", toy.testSrc, "-tgt", toy.testTgt, "-tokens", "-threads", "1")
	lines := strings.Split(strings.TrimSpace(out.stdout), "\n")
	if len(lines) != len(sources) {
		t.Fatalf("%d lines for %d pairs", len(lines), len(sources))
	}
	total, tokens := 0.0, 0
	var tsv, want string
	for i, line := range lines {
		columns := strings.Split(line, "\t")
		if len(columns) != 4 {
			t.Fatalf("line %q, want 4 columns", line)
		}
		var x [3]float64
		for j := range x {
			var err error
			if x[j], err = strconv.ParseFloat(columns[j], 64); err != nil {
				t.Fatal(err)
			}
		}
		sum := 0.0
		list := strings.Fields(columns[3])
		for _, s := range list {
			logProb, err := strconv.ParseFloat(s, 64)
			if err != nil || logProb > 0 {
				t.Fatalf("log-probability %q, %v", s, err)
			}
			sum += logProb
		}
		total, tokens = total+x[0], tokens+len(list)
		// Six decimals are printed.
		if len(list) != int(x[1]) || math.Abs(sum-x[0]) > 1e-6*x[1] || math.Abs(math.Exp(-x[0]/x[1])-x[2]) > 1e-5 {
			t.Errorf("%q: sum of the tokens %v, want %v", line, sum, x[0])
		}
		pair := sources[i] + "\t" + targets[i]
		tsv += pair + "\n"
		want += strings.Join(columns[:3], "\t") + "\n"
	}
	mean := total / float64(tokens)
	if want := fmt.Sprintf("%d pairs, %d tokens: log-probability %.4f a token, perplexity %.4f\n", len(lines), tokens, mean, math.Exp(-mean)); out.stderr != want {
		t.Errorf("standard error %q, want %q", out.stderr, want)
	}
	if got := mustRun(t, tsv, "score-pairs", "-model", m, "-tsv", "-", "-threads", "3").stdout; got != want {
		t.Errorf("-tsv:\n%s\nwant\n%s", got, want)
	}
	if got := mustRun(t, "", "score-pairs", "-model", m, "-tsv", write(t, "pairs.tsv.gz", packed(tsv))).stdout; got != want {
		t.Errorf("-tsv of a gzipped file:\n%s\nwant\n%s", got, want)
	}
	// The translation that the model prefers. A search gives Pad and BOS no probability; by label
	// smoothing they have 0.1/320 each.
	const source = "the big cat sees the dog"
	translation, score, _ := strings.Cut(strings.TrimSpace(mustRun(t, source, "translate", "-model", m, "-scores", "-set", "alpha=0").stdout), "\t")
	var found, logProb float64
	fmt.Sscan(score, &found)
	fmt.Sscan(mustRun(t, source+"\t"+translation+"\n", "score-pairs", "-model", m, "-tsv", "-").stdout, &logProb)
	if !(logProb <= found && found < logProb+0.02) {
		t.Errorf("log-probability %v, want slightly less than the score %v", logProb, found)
	}
	pairs := "the big cat sees the dog\tle chat grand voit le chien\nthe big cat sees the dog\tle chien grand voit le chat\n"
	var first, second float64
	scores := mustRun(t, pairs, "score-pairs", "-model", m, "-tsv", "-").stdout
	fmt.Sscanf(strings.Split(scores, "\t")[0], "%f", &first)
	fmt.Sscanf(strings.Split(scores, "\n")[1], "%f", &second)
	if !(first > second+1) {
		t.Errorf("scores %v of a translation and %v of another:\n%s", first, second, scores)
	}
	if other := mustRun(t, pairs, "score-pairs", "-model", m, "-tsv", "-", "-int8").stdout; other == scores || strings.Count(other, "\n") != 2 {
		t.Errorf("-int8:\n%s, want other scores than\n%s", other, scores)
	}
}

// A pair without score does not stop the others.
func TestScorePairsContinues(t *testing.T) {
	m := toyModel(t)
	long := strings.Repeat("le chat ", 2000)
	o := runTFM(t, "the cat\tle chat\nthe cat\t"+long+"\nthe cat\tle chat\n", "score-pairs", "-model", m, "-tsv", "-")
	mustFail(t, o, 1, "1 of 3 pairs not scored")
	if !strings.Contains(o.stderr, "standard input:2: target of ") || !strings.Contains(o.stderr, "2 pairs, ") {
		t.Errorf("standard error %q", o.stderr)
	}
	if lines := strings.Split(o.stdout, "\n"); len(lines) != 4 || lines[0] != lines[2] || lines[1] != "\t\t" {
		t.Errorf("standard output %q", o.stdout)
	}
}

func TestScorePairsUsage(t *testing.T) {
	m := toyModel(t)
	for args, want := range map[string]string{
		"":                             "-src and -tgt are needed, or -tsv",
		"-src a":                       "-src and -tgt are needed, or -tsv",
		"-tsv a -src a":                "either -src and -tgt, or -tsv",
		"-src a -tgt b c":              `unexpected argument "c"`,
		"-src a -tgt b -threads 5,000": "expected a whole number",
	} {
		mustFail(t, runTFM(t, "", append([]string{"score-pairs"}, strings.Fields(args)...)...), 2, want)
	}
	short := write(t, "short", "a\n")
	mustFail(t, runTFM(t, "", "score-pairs", "-model", m, "-src", toy.testSrc, "-tgt", short), 1, "unequal line counts")
	mustFail(t, runTFM(t, "", "score-pairs", "-model", m, "-src", short, "-tgt", short+"2"), 1, short+"2")
}
