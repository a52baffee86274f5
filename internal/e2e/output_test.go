package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An output never replaces an input, by whatever name, and a model replaces no file without -force.
func TestOutputReplacesNoInput(t *testing.T) {
	m := toyModel(t)
	for _, args := range []string{
		"eval -model " + m + " -src " + toy.testSrc + " -ref FILE -o OUT", "vocab -vocab-size 300 -o OUT " + toy.src + " FILE",
		"train -src " + toy.src + " -tgt FILE -steps 1 -force -o OUT",
	} {
		content := read(t, toy.testTgt)
		file := write(t, "input", content)
		link := filepath.Join(filepath.Dir(file), "link")
		if err := os.Link(file, link); err != nil {
			t.Skip(err)
		}
		for _, out := range []string{file, link, filepath.Dir(file) + "/./input"} {
			command := strings.NewReplacer("FILE", file, "OUT", out).Replace(args)
			mustFail(t, runTFM(t, "", strings.Fields(command)...), 2, "-o "+out+" would replace an input, "+file)
			if read(t, file) != content {
				t.Fatalf("-o %s replaced the input", out)
			}
		}
	}
	args, out := trainArgs(t, "-steps", "1")
	mustRun(t, "", args...)
	dir := out[:len(out)-len(".safetensors")] + ".ckpt"
	noError(t, os.Remove(out))
	const newest = "step-00000001.safetensors"
	mustFail(t, runTFM(t, "", "translate", "-model", out), 1, out+" does not exist, because its run has not ended: resume it", "use -model "+filepath.Join(dir, newest))
	mustFail(t, runTFM(t, "", "eval", "-src", toy.src, "-ref", toy.tgt, "-model", dir), 1, dir+" is a folder of checkpoints: use one, such as -model "+filepath.Join(dir, newest))
	mustRun(t, "", append(args, "-resume")...)
	mustFail(t, runTFM(t, "", "demo", "-steps", "1", "-o", out), 1, out+" already exists: -force replaces it")
}
