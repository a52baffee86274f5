package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// An output never replaces an input, by whatever name, and a model replaces no file without -force.
func TestOutputReplacesNoInput(t *testing.T) {
	m := toyModel(t)
	for name, args := range map[string][]string{
		"eval":  {"eval", "-model", m, "-src", toy.testSrc, "-ref", "FILE", "-o", "OUT"},
		"vocab": {"vocab", "-vocab-size", "300", "-o", "OUT", toy.src, "FILE"},
		"train": {"train", "-src", toy.src, "-tgt", "FILE", "-steps", "1", "-force", "-o", "OUT"},
	} {
		t.Run(name, func(t *testing.T) {
			content := read(t, toy.testTgt)
			file := write(t, "input", content)
			link := filepath.Join(filepath.Dir(file), "link")
			if err := os.Link(file, link); err != nil {
				t.Skip(err)
			}
			for _, out := range []string{file, link, filepath.Dir(file) + "/./input"} {
				var command []string
				for _, a := range args {
					switch a {
					case "FILE":
						a = file
					case "OUT":
						a = out
					}
					command = append(command, a)
				}
				mustFail(t, runTFM(t, "", command...), 2, "-o "+out+" would replace an input, "+file)
				if read(t, file) != content {
					t.Fatalf("-o %s replaced the input", out)
				}
			}
		})
	}
	args, out := trainArgs(t, "-steps", "1")
	mustRun(t, "", args...)
	dir := out[:len(out)-len(".safetensors")] + ".ckpt"
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	const newest = "step-00000001.safetensors"
	mustFail(t, runTFM(t, "", "translate", "-model", out), 1, out+" does not exist, because its run has not ended: resume it", "use -model "+filepath.Join(dir, newest))
	mustFail(t, runTFM(t, "", "eval", "-src", toy.src, "-ref", toy.tgt, "-model", dir), 1, dir+" is a folder of checkpoints: use one, such as -model "+filepath.Join(dir, newest))
	mustRun(t, "", append(args, "-resume")...)
	mustFail(t, runTFM(t, "", "demo", "-steps", "1", "-o", out), 1, out+" already exists: -force replaces it")
}
