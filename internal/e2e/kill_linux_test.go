package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tfm/model/safetensors"
	"tfm/train"
)

// A run that is killed twenty times (another one some times), by the signal that nothing can catch,
// at any moment (while it reads, in a step, and while it saves, which it does after every step),
// and each time resumed on another number of threads, ends in the bytes of a run that nobody
// disturbed: the model as a whole, and of the last checkpoint every tensor, the moments too, and
// the state except for the time that it took. Its log has every step once.
func TestTwentyKills(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts the program dozens of times")
	}
	for _, c := range []struct {
		name  string
		kills int
		mixed bool // several sources in place of one
		flags []string
	}{
		{"in memory", 4, false, nil},
		{"several sources", 10, true, []string{"-set", "shuffle-window=150"}},
		{"streamed", 20, false, []string{"-set", "shuffle-window=150", "-set", "accumulate=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(killSeed(t), 0))
			args, model := trainArgs(t, append(c.flags, "-save-every", "1", "-set", "keep=2")...)
			mix := mixOf(t)
			if c.mixed {
				args = append([]string{"train", "-mix", mix}, args[5:]...)
			}
			dir := strings.TrimSuffix(model, ".safetensors") + ".ckpt"
			duringSave, step := 0, 0
			for i := range c.kills {
				run := append(args, "-steps", "1000000", "-threads", fmt.Sprint([]int{1, 2, 3, 8}[i%4]))
				if step > 0 {
					run = append(run, "-resume")
				} else if i > 0 {
					run = append(run, "-force") // killed before its first checkpoint
				}
				k := killer{dir: dir, begun: i%7 != 3, steps: random.IntN(3), saving: i%3 == 0, wait: time.Duration(random.Int64N(int64(50 * time.Millisecond)))}
				k.kill(t, run)
				if len(k.temporary(t)) > 0 {
					duringSave++
				}
				step = newestStep(t, dir)
			}
			t.Logf("killed %d times, %d of them while saving, in %d steps", c.kills, duringSave, step)
			if step == 0 || c.kills == 20 && duringSave == 0 {
				t.Fatalf("%d steps, %d kills while saving: expected some of both", step, duringSave)
			}
			end := fmt.Sprint(step + 3)
			mustRun(t, "", append(args, "-steps", end, "-resume")...)
			for i, s := range readLog(t, model).Steps {
				if s.Step != i+1 {
					t.Fatalf("the log has no line of step %d: step %d is in its place", i+1, s.Step)
				}
			}
			if r := readLog(t, model); len(r.Steps) != step+3 {
				t.Errorf("the log has %d steps, want %d", len(r.Steps), step+3)
			}
			straight, undisturbed := trainArgs(t, append(c.flags, "-save-every", "1", "-set", "keep=2", "-threads", "1", "-steps", end)...)
			if c.mixed {
				straight = append([]string{"train", "-mix", mix}, straight[5:]...)
			}
			mustRun(t, "", straight...)
			sameFiles(t, model, undisturbed, "the models differ")
			wantSameTensors(t, newest(t, dir), newest(t, strings.TrimSuffix(undisturbed, ".safetensors")+".ckpt"))
		})
	}
}

// killSeed is the seed of the moments of the kills: the environment's TFM_KILL_SEED, else the time.
// A failure logs it. The same seed kills after the same waits, which on another day may be other
// moments of the run.
func killSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TFM_KILL_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("TFM_KILL_SEED: %v", err)
		}
	}
	t.Logf("TFM_KILL_SEED=%d kills after the same waits", seed)
	return seed
}

// killer says when to kill a run: some time after it was started, or has begun and made a number of
// steps, or then once it has begun to write a checkpoint.
type killer struct {
	dir    string
	begun  bool
	steps  int // checkpoints that it must write before
	saving bool
	wait   time.Duration
}

func (k killer) kill(t *testing.T, args []string) {
	t.Helper()
	removed := k.temporary(t) // of an earlier kill, unless the run has removed them
	c := tfm(args...)
	stderr, err := c.StderrPipe()
	noError(t, err)
	noError(t, c.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); k.begun && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "machine:") {
			break
		}
	}
	until := func(done func() bool) {
		for end := time.Now().Add(time.Minute); !done() && time.Now().Before(end); {
			time.Sleep(100 * time.Microsecond)
		}
	}
	if k.begun {
		for range k.steps {
			was := newest(t, k.dir)
			until(func() bool { return newest(t, k.dir) != was })
		}
		if k.saving {
			until(func() bool {
				left := k.temporary(t)
				return len(left) > 0 && !slices.Equal(left, removed)
			})
			k.wait = 0
		}
	}
	time.Sleep(k.wait)
	c.Process.Kill()
	c.Wait()
	if c.ProcessState.Exited() {
		t.Fatalf("the run ended by itself: %v\n%s", c.ProcessState, said.String())
	}
}

// temporary are the files of checkpoints that are being written, or were.
func (k killer) temporary(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(k.dir, ".*.tfm-tmp"))
	noError(t, err)
	return paths
}

// newest returns the path of the newest checkpoint, or "".
func newest(t *testing.T, dir string) string {
	t.Helper()
	paths, err := train.Checkpoints(dir)
	noError(t, err)
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

// newestStep returns the step of the newest checkpoint, which must be complete, or 0.
func newestStep(t *testing.T, dir string) int {
	t.Helper()
	if newest(t, dir) == "" {
		return 0
	}
	c, err := train.Newest(dir)
	noError(t, err)
	defer c.Close()
	return c.State.Step
}

func wantSameTensors(t *testing.T, got, want string) {
	t.Helper()
	open := func(path string) ([]safetensors.Tensor, train.State) {
		f, err := safetensors.Map(path)
		noError(t, err)
		t.Cleanup(func() { f.Close() })
		c, err := train.OpenCheckpoint(path)
		noError(t, err)
		defer c.Close()
		c.State.Trained = 0
		return f.Tensors(), c.State
	}
	a, aState := open(got)
	b, bState := open(want)
	if aState != bState {
		t.Errorf("%s: state\n%+v, want\n%+v", got, aState, bState)
	}
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%s: %d tensors, want %d", got, len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name || !bytes.Equal(a[i].Data, b[i].Data) {
			t.Errorf("%s: tensor %s differs", got, a[i].Name)
		}
	}
}

// Two programs on one model: the second one says so and harms nothing. A kill leaves no lock
// behind.
func TestSecondRunOnTheSameModel(t *testing.T) {
	args, m := trainArgs(t, "-steps", "1000000", "-save-every", "1")
	c, rest := startTraining(t, args)
	dir := strings.TrimSuffix(m, ".safetensors") + ".ckpt"
	for _, more := range []string{"-resume", "-force"} {
		mustFail(t, runTFM(t, "", append(args, more)...), 1, dir, "another run is using these checkpoints")
	}
	c.Process.Signal(os.Kill)
	rest()
	mustRun(t, "", append(args, "-resume", "-steps", fmt.Sprint(newestStep(t, dir)+2))...)
}
