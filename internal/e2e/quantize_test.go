package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	noError(t, err)
	return info.Size()
}

// A quantized model has the translations of -int8. It is a model for translating only.
func TestQuantize(t *testing.T) {
	m, dir := toyModel(t), t.TempDir()
	int8 := filepath.Join(dir, "int8.safetensors")
	o := mustRun(t, "", "quantize", "-o", int8, m)
	if want := int8 + ": weights in int8; 0.0 MB, "; !strings.HasPrefix(o.stderr, want) || o.stdout != "" {
		t.Errorf("quantize prints %q, %q, want %q", o.stdout, o.stderr, want)
	}
	text := read(t, toy.testSrc)
	lists := func(args ...string) string {
		return mustRun(t, text, append([]string{"translate", "-nbest", "3", "-model"}, args...)...).stdout
	}
	rounded := lists(m, "-int8")
	if lists(m) == rounded {
		t.Error("-int8 does not change the scores")
	}
	if lists(int8) != rounded || lists(int8, "-int8") != rounded {
		t.Error("translations differ from those with -int8")
	}

	first := read(t, int8)
	mustFail(t, runTFM(t, "", "quantize", "-o", int8, m), 1, int8+" already exists: -force replaces it")
	mustRun(t, "", "quantize", "-force", "-o", int8, "-threads", "2", m)
	if read(t, int8) != first {
		t.Error("other threads give another file")
	}

	// They say what they are, and what they cannot do.
	for _, c := range []struct{ path, form string }{
		{m, "weights in float32\n"}, {int8, "weights in int8, which can translate but not train\n"},
	} {
		if o := mustRun(t, "", "info", "-model", c.path).stdout; !strings.Contains(o, "file:            0.") || !strings.Contains(o, c.form) || !strings.Contains(o, "trained:") {
			t.Errorf("info of %s:\n%s\nwant %q", c.path, o, c.form)
		}
	}
	const reason = "of 'tfm quantize', which can only translate, expected float32: use the model that it was made from"
	args, _ := trainArgs(t, "-steps", "1", "-init", int8)
	mustFail(t, runTFM(t, "", args...), 1, int8+": found weights \"", reason)
	mustFail(t, runTFM(t, "", "average", "-o", filepath.Join(dir, "mean.safetensors"), m, int8), 1, int8+": found weights \"", reason)
	if o := mustRun(t, "the red dog\n", "vocab", "-vocab", int8, "-encode"); strings.Count(o.stdout, " ") < 2 {
		t.Errorf("vocab of a quantized model prints %q", o.stdout)
	}

	// A checkpoint is quantized as its model.
	args, out := trainArgs(t, "-steps", "2", "-save-every", "1", "-set", "average=0")
	mustRun(t, "", args...)
	checkpoint := filepath.Join(strings.TrimSuffix(out, ".safetensors")+".ckpt", "step-00000002.safetensors")
	mustRun(t, "", "quantize", "-force", "-o", int8, checkpoint)
	if got, want := lists(int8), lists(out, "-int8"); got != want {
		t.Error("translations of a quantized checkpoint differ from those of its model")
	}

	mustFail(t, runTFM(t, "", "quantize", m), 2, "-o is missing")
	mustFail(t, runTFM(t, "", "translate", "-model", write(t, "damaged.safetensors", first[:len(first)-9])), 1, "damaged.safetensors")
}
