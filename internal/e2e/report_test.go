package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/train/runlog"
)

// reportOf makes a report and returns the page.
func reportOf(t *testing.T, args ...string) (page string, o output) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.html")
	o = mustRun(t, "", append([]string{"report", "-o", out}, args...)...)
	return read(t, out), o
}

func TestReportOfARun(t *testing.T) {
	args, m := trainArgs(t, "-steps", "40", "-valid-every", "20")
	mustRun(t, "", args...)
	dir := strings.TrimSuffix(m, ".safetensors") + ".ckpt"
	page, o := reportOf(t, "-run", dir)
	// One layer of each stack with two heads, and the mean of them, for three attentions of
	// three sentences.
	if n := strings.Count(page, "<img "); n != 3*3*(2+1) {
		t.Errorf("%d attention maps", n)
	}
	mustHave(t, page, "<h1 dir=\"auto\">m</h1>", "Best validation BLEU", "1 + 1 layers", "all steps are done", ">Loss<", ">BLEU<", ">Gradient norm<", "best, step", "▁the")
	if !strings.Contains(o.stderr, "40 steps, 2 validations, attention maps of 3 sentences") || o.stdout != "" {
		t.Errorf("said %q and %q", o.stdout, o.stderr)
	}

	mustRun(t, "", append(args, "-resume", "-steps", "50")...)
	page, _ = reportOf(t, "-run", dir, "-text", "the red dog <b>sees</b> it", "-text", "the cat")
	mustHave(t, page, "after step 40", "the red dog &lt;b&gt;sees&lt;/b&gt; it")
	if n := strings.Count(page, `class="sentence"`); n != 2 {
		t.Errorf("%d sentences with attention maps, want 2", n)
	}

	// A sentence that is longer than the model can take, or the page would show.
	page, _ = reportOf(t, "-run", dir, "-model", toyModel(t), "-text", strings.Repeat("the small table takes the big tree ", 80))
	mustHave(t, page, "toy.safetensors", "The maps show the first 48 and")
}

const reportLog = `{"event":"start","step":0,"settings":{}}
{"event":"step","step":1,"loss":9}
{"event":"valid","step":1,"loss":9,"samples":[{"src":"the red dog","ref":"","hyp":""}]}
`

func TestReportWithoutAModel(t *testing.T) {
	dir := filepath.Dir(write(t, runlog.FileName, reportLog))
	page, o := reportOf(t, "-run", dir)
	mustHave(t, page, "there is no checkpoint in the folder of the run")
	if strings.Count(o.stderr, "\n") != 2 || !strings.Contains(o.stderr, "no maps of attention") {
		t.Errorf("said %q", o.stderr)
	}
	page, _ = reportOf(t, "-run", dir, "-model", toyModel(t))
	mustHave(t, page, "toy.safetensors", "the red dog")
}

func TestReportErrors(t *testing.T) {
	dir := filepath.Dir(write(t, runlog.FileName, reportLog))
	empty := t.TempDir()
	broken := filepath.Dir(write(t, runlog.FileName, reportLog+"nonsense\n"+reportLog))
	damaged := filepath.Dir(write(t, runlog.FileName, reportLog))
	noError(t, os.WriteFile(filepath.Join(damaged, "step-00000001.safetensors"), []byte("nonsense"), 0o666))
	out := filepath.Join(t.TempDir(), "page.html")
	for _, c := range []struct {
		code  int
		args  []string
		wants []string
	}{
		{2, nil, []string{"-run is missing", "run 'tfm help report'"}},
		{1, []string{"-run", filepath.Join(dir, "none")}, []string{"-run", filepath.Join(dir, "none"), "the folder does not exist"}},
		{1, []string{"-run", empty}, []string{empty + ": no log.jsonl"}},
		{1, []string{"-run", broken}, []string{filepath.Join(broken, runlog.FileName) + ":4: "}},
		{1, []string{"-run", dir, "-text", "a"}, []string{dir + ": no checkpoint", "-model"}},
		{1, []string{"-run", damaged}, []string{"step-00000001.safetensors", "damaged"}},
	} {
		o := runTFM(t, "", append([]string{"report", "-o", out}, c.args...)...)
		mustFail(t, o, c.code, c.wants...)
		if strings.Count(o.stderr, "\n") != 1 || o.stdout != "" {
			t.Errorf("%q: more than one line of error:\n%s%s", c.args, o.stdout, o.stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q: wrote a page", c.args)
		}
	}
}
