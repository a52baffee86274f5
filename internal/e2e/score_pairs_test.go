package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// The scores of two files, of columns and of objects are the same, for any number of threads, and
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
	var tsv, wantTSV, objects string
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
		wantTSV += pair + "\t" + strings.Join(columns[:3], "\t") + "\n"
		objects += fmt.Sprintf("{\"s\":%q,\"n\":%d,\"t\":%q}\n\n", sources[i], i, targets[i])
	}
	mean := total / float64(tokens)
	if want := fmt.Sprintf("%d pairs, %d tokens: log-probability %.4f a token, perplexity %.4f\n", len(lines), tokens, mean, math.Exp(-mean)); out.stderr != want {
		t.Errorf("standard error %q, want %q", out.stderr, want)
	}
	if got := mustRun(t, tsv, "score-pairs", "-model", m, "-columns", "1,2", "-threads", "3").stdout; got != wantTSV {
		t.Errorf("-columns:\n%s\nwant\n%s", got, wantTSV)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(tsv))
	z.Close()
	if got := mustRun(t, "", "score-pairs", "-model", m, "-columns", "1,2", write(t, "pairs.tsv.gz", zipped.String())).stdout; got != wantTSV {
		t.Errorf("-columns of a gzipped file:\n%s\nwant\n%s", got, wantTSV)
	}
	got := mustRun(t, objects, "score-pairs", "-model", m, "-json", "-columns", "s,t", "-tokens").stdout
	for i, line := range strings.Split(strings.TrimSpace(got), "\n\n") {
		var o struct {
			N                   int
			T                   string
			LogProb, Perplexity json.Number
			Tokens              json.Number
			TokenLogProbs       [][2]any `json:"token_logprobs"`
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var pieces string
		var list []string
		for _, p := range o.TokenLogProbs {
			pieces += p[0].(string)
			list = append(list, p[1].(json.Number).String())
		}
		columns := strings.Join([]string{o.LogProb.String(), o.Tokens.String(), o.Perplexity.String(), strings.Join(list, " ")}, "\t")
		if columns != lines[i] || o.N != i || pieces != o.T {
			t.Errorf("-json: %s, want %s", line, lines[i])
		}
	}

	// A pipe of both commands, and the translation that the model prefers. A search gives Pad
	// and BOS no probability; by label smoothing they have 0.1/320 each.
	piped := mustRun(t, mustRun(t, `{"text":"the big cat sees the dog"}`, "translate", "-model", m, "-json", "-scores", "-set", "alpha=0").stdout, "score-pairs", "-model", m, "-json").stdout
	var o struct{ Score, LogProb float64 }
	if err := json.Unmarshal([]byte(piped), &o); err != nil || !(o.LogProb <= o.Score && o.Score < o.LogProb+0.02) {
		t.Errorf("%s: %v, want logprob slightly less than score", piped, err)
	}
	pairs := "the big cat sees the dog\tle chat grand voit le chien\nthe big cat sees the dog\tle chien grand voit le chat\n"
	var first, second float64
	scores := mustRun(t, pairs, "score-pairs", "-model", m, "-columns", "1,2").stdout
	fmt.Sscanf(strings.Split(scores, "\t")[2], "%f", &first)
	fmt.Sscanf(strings.Split(scores, "\t")[6], "%f", &second)
	if !(first > second+1) {
		t.Errorf("scores %v of a translation and %v of another:\n%s", first, second, scores)
	}
	if other := mustRun(t, pairs, "score-pairs", "-model", m, "-columns", "1,2", "-int8").stdout; other == scores || strings.Count(other, "\n") != 2 {
		t.Errorf("-int8:\n%s, want other scores than\n%s", other, scores)
	}
}

// A line without score does not stop the others.
func TestScorePairsContinues(t *testing.T) {
	m := toyModel(t)
	long := strings.Repeat("le chat ", 2000)
	o := runTFM(t, "the cat\tle chat\nno tab\nthe cat\t"+long+"\n\t\nthe cat\tle chat\n", "score-pairs", "-model", m, "-columns", "1,2")
	mustFail(t, o, 1, "2 of 5 pairs not scored")
	lines := strings.Split(o.stdout, "\n")
	if len(lines) != 6 || lines[0] != lines[4] || lines[1] != "no tab\t\t\t" || lines[2] != "the cat\t"+long+"\t\t\t" || strings.Count(lines[3], "\t") != 4 {
		t.Errorf("standard output %q", o.stdout)
	}
	for _, want := range []string{"standard input:2: found no tab, expected column 2", "standard input:3: target of ", "3 pairs, "} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error has no %q:\n%s", want, o.stderr)
		}
	}
	o = runTFM(t, "{\"text\":\"the cat\",\"translation\":\"le chat\"}\n{\"text\":\"\"}\n[]\n", "score-pairs", "-model", m, "-json")
	mustFail(t, o, 1, "2 of 3 pairs not scored")
	if lines := strings.Split(o.stdout, "\n"); !strings.HasPrefix(lines[0], `{"text":"the cat","translation":"le chat","logprob":-`) ||
		lines[1] != `{"text":"","error":"standard input:2: found no field \"translation\""}` || lines[2] != `{"error":"standard input:3: found an array, expected a JSON object"}` {
		t.Errorf("standard output %q", o.stdout)
	}
}

func TestScorePairsUsage(t *testing.T) {
	m := toyModel(t)
	for args, want := range map[string]string{
		"":                             "-src and -tgt are needed, or -columns, or -json",
		"-src a":                       "-src and -tgt are needed, or -columns, or -json",
		"-columns 1,2 -src a":          "either -src and -tgt, or -columns, or -json",
		"-columns 1,2 -src a -tgt b":   "either -src and -tgt, or -columns, or -json",
		"-columns 1":                   `-columns is "1", expected two, separated by a comma`,
		"-columns 1,b":                 `-columns is "b", expected the number of a column, from 1, or -json`,
		"-src a -tgt b c":              `unexpected argument "c"`,
		"-src a -tgt b -threads 5,000": "expected a whole number",
	} {
		mustFail(t, runTFM(t, "", append([]string{"score-pairs"}, strings.Fields(args)...)...), 2, want)
	}
	short := write(t, "short", "a\n")
	mustFail(t, runTFM(t, "", "score-pairs", "-model", m, "-src", toy.testSrc, "-tgt", short), 1, "unequal line counts")
	mustFail(t, runTFM(t, "", "score-pairs", "-model", m, "-src", short, "-tgt", short+"2"), 1, short+"2")
}
