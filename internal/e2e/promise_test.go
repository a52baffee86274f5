package e2e

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// promiseVar is the environment variable with the model file and the text of TestPromise, separated
// by a space. With it the test takes longer: each kernel runs with every size of batches, number of
// threads and order.
//
//	TFM_PROMISE="en-de.safetensors val.en" go test -run TestPromise -timeout 0 ./internal/e2e
const promiseVar = "TFM_PROMISE"

// promiseModes are searches of tfm translate.
var promiseModes = map[string]string{
	"greedy": "-beam 1 -scores",
	"beam":   "-beam 4 -scores -align words",
	"limits": "-beam 3 -set no-repeat=2 -set repetition-penalty=1.2 -set min-tokens=5",
	"nbest":  "-beam 6 -nbest 6",
	"sample": "-sample -set temperature=1.5 -set top-p=0.95 -seed 5",
	"draws":  "-sample -set temperature=0.8 -set top-k=20 -seed 6 -nbest 3",
}

// promiseKernels returns the values of TFM_CPU for this machine, except portable Go, because its
// results may differ in the last bits.
func promiseKernels() (names []string) {
	for _, name := range []string{"avx512", "avx2", "neon"} {
		c := tfm("version")
		c.Env = append(c.Env, "TFM_CPU="+name)
		if c.Run() == nil {
			names = append(names, name)
		}
	}
	return names
}

// The promise: the output of tfm translate has the same bytes for any size of batches, number of
// threads, order and times of arrival of lines, and set of kernels, in float32 and int8, for every
// search.
func TestPromise(t *testing.T) {
	modelFile, lines := promiseInput(t)
	kernels := promiseKernels()
	if len(kernels) == 0 || os.Getenv("TFM_CPU") == "generic" {
		kernels = []string{""} // those in use, which are portable
	}
	random := rand.New(rand.NewPCG(1, 2))
	runs := 0
	for _, precision := range []string{"", "-int8"} {
		for _, mode := range slices.Sorted(maps.Keys(promiseModes)) {
			if raceDetector && mode != "beam" {
				continue // the others run the same goroutines
			}
			name := strings.TrimSpace(mode + " " + precision)
			p := promise{t: t, name: name, lines: lines, random: random}
			p.args = append([]string{"translate", "-model", modelFile, "-column", "2"}, strings.Fields(promiseModes[mode]+" "+precision)...)
			if strings.Contains(promiseModes[mode], "-sample") || strings.Contains(promiseModes[mode], "-nbest") {
				p.args = append(p.args, "-key", "1")
			}
			p.want = p.run(kernels[0], 1<<20, 1, inOrder(lines), nil)
			shuffled := random.Perm(len(lines))
			reversed := inOrder(lines)
			slices.Reverse(reversed)
			runs++
			if os.Getenv(promiseVar) == "" {
				// Each value of each property occurs.
				p.check(kernels[0], 1, 8, shuffled, nil)
				p.check(kernels[len(kernels)-1], 7, 2, inOrder(lines), nil)
				p.check(kernels[len(kernels)-1], 64, 3, shuffled, arrivals(random, 3*time.Millisecond))
				runs += 3
				continue
			}
			for k, kernel := range kernels {
				for i, batch := range []int{1, 7, 64, 1 << 20} {
					// Other kernels have other pairs of batch and threads.
					p.check(kernel, batch, []int{8, 3, 2, 1}[(i+k)%4], inOrder(lines), nil)
				}
				p.check(kernel, 64, 2, shuffled, nil)
				p.check(kernel, 256, 3, reversed, nil)
				p.check(kernel, 256, 2, shuffled, arrivals(random, 20*time.Millisecond))
				runs += 4 + 3
			}
		}
	}
	t.Logf("%d runs of %d lines with the kernels %v: equal", runs, len(lines), kernels)
}

// The scores of pairs have the same bytes for any number of threads, order and set of kernels.
func TestPromiseOfScores(t *testing.T) {
	modelFile, lines := promiseInput(t)
	translations := strings.Split(strings.TrimSpace(mustRun(t, strings.Join(lines, "\n"), "translate", "-model", modelFile, "-column", "2", "-beam", "1").stdout), "\n")
	for i, line := range translations {
		_, translations[i], _ = strings.Cut(line, "\t") // without its number
	}
	reversed := slices.Clone(translations)
	slices.Reverse(reversed)
	for _, precision := range []string{"-int8=false", "-int8"} {
		score := func(kernel string, threads int, lines []string) []string {
			c := tfm("score-pairs", "-model", modelFile, "-tsv", "-", "-tokens", "-threads", strconv.Itoa(threads), precision)
			if kernel != "" {
				c.Env = append(c.Env, "TFM_CPU="+kernel)
			}
			c.Stdin = strings.NewReader(strings.Join(lines, "\n"))
			o := finish(t, c)
			if o.code != 0 {
				t.Fatalf("exit code %d\n%s", o.code, o.stderr)
			}
			return strings.Split(strings.TrimSpace(o.stdout), "\n")
		}
		kernels := promiseKernels()
		if len(kernels) == 0 {
			kernels = []string{""} // those in use, which are portable
		}
		want := score(kernels[0], 1, translations)
		slices.Reverse(want)
		for _, kernel := range kernels {
			if got := score(kernel, 3, reversed); !slices.Equal(got, want) {
				t.Errorf("%s, kernel %s: other scores than with one thread in another order", precision, kernel)
			}
		}
	}
}

// promiseInput returns the model and the lines: a number, a tab and a text.
func promiseInput(t *testing.T) (modelFile string, lines []string) {
	t.Helper()
	var texts []string
	if given := os.Getenv(promiseVar); given != "" {
		file, path, ok := strings.Cut(given, " ")
		if !ok {
			t.Fatalf("%s=%q: expected a model file, a space and a text file", promiseVar, given)
		}
		modelFile, texts = file, strings.Split(strings.TrimSuffix(read(t, path), "\n"), "\n")
	} else {
		modelFile = toyModel(t)
		sentences := strings.Split(strings.TrimSuffix(read(t, toy.testSrc), "\n"), "\n")
		texts = append(sentences[:40:40], "", "the", "a 日本語 🙂 \u00a0 text", " ")
		for i := 2; i <= 6; i++ {
			texts = append(texts, strings.Join(sentences[i:2*i], " , "))
		}
	}
	for i, s := range texts {
		lines = append(lines, fmt.Sprintf("%d\t%s", i, s))
	}
	return modelFile, lines
}

// promise is a search and its output.
type promise struct {
	t      *testing.T
	name   string
	args   []string
	lines  []string
	random *rand.Rand
	want   []string // for each line of input its lines of output
}

func inOrder(lines []string) []int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	return order
}

// check runs the search and compares its output.
func (p *promise) check(kernel string, batch, threads int, order []int, input func(io.Writer, string)) {
	p.t.Helper()
	got := p.run(kernel, batch, threads, order, input)
	for i := range got {
		if got[i] != p.want[i] {
			p.t.Errorf("%s, kernel %s, -batch %d, -threads %d: %q becomes\n%s, want\n%s", p.name, kernel, batch, threads, p.lines[i], got[i], p.want[i])
			return
		}
	}
}

// run translates the lines in an order and returns the lines of output of each line of input. input
// writes the input; nil writes it at once.
func (p *promise) run(kernel string, batch, threads int, order []int, input func(io.Writer, string)) []string {
	p.t.Helper()
	var text strings.Builder
	for _, i := range order {
		text.WriteString(p.lines[i] + "\n")
	}
	c := tfm(append(p.args, "-set", "batch="+strconv.Itoa(batch), "-threads", strconv.Itoa(threads))...)
	if kernel != "" {
		c.Env = append(c.Env, "TFM_CPU="+kernel)
	}
	c.Stdin = strings.NewReader(text.String())
	if input != nil {
		r, w := io.Pipe()
		c.Stdin = r
		go func() {
			input(w, text.String())
			w.Close()
		}()
	}
	o := finish(p.t, c)
	if o.code != 0 {
		p.t.Fatalf("%s: exit code %d\n%s", p.name, o.code, o.stderr)
	}
	results := make([]string, len(p.lines))
	last := -1 // index in order of the line
	for line := range strings.Lines(o.stdout) {
		number, err := strconv.Atoi(line[:strings.IndexByte(line, '\t')])
		if err != nil {
			p.t.Fatalf("%s: output %q", p.name, line)
		}
		if last < 0 || order[last] != number {
			if last++; last >= len(order) || order[last] != number {
				p.t.Fatalf("%s: line %d of output is %q, want the answer to line %d", p.name, last, line, number)
			}
		}
		results[number] += line
	}
	if last != len(order)-1 {
		p.t.Fatalf("%s: answers to %d lines, want %d", p.name, last+1, len(order))
	}
	return results
}

// arrivals returns a function that writes a text in pieces of random sizes after random times.
func arrivals(random *rand.Rand, longest time.Duration) func(io.Writer, string) {
	r := rand.New(rand.NewPCG(random.Uint64(), 1))
	return func(w io.Writer, s string) {
		for s != "" {
			n := min(len(s), 1+r.IntN(1<<r.IntN(10)))
			if _, err := io.WriteString(w, s[:n]); err != nil {
				return
			}
			s = s[n:]
			time.Sleep(time.Duration(r.Int64N(int64(longest))))
		}
	}
}
