package e2e

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mnistFiles writes a small data set in which the digit d is a bright row with index 2d+4.
func mnistFiles(t *testing.T) (dir string) {
	dir = t.TempDir()
	for _, set := range []struct {
		name string
		n    int
	}{{"train", 60}, {"t10k", 20}} {
		images := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 3}, uint32(set.n))
		images = append(images, 0, 0, 0, 28, 0, 0, 0, 28)
		labels := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, uint32(set.n))
		for i := range set.n {
			image := make([]byte, 28*28)
			for j := range 28 {
				image[(i%10*2+4)*28+j] = 200
			}
			images, labels = append(images, image...), append(labels, byte(i%10))
		}
		for file, data := range map[string][]byte{"-images-idx3-ubyte": images, "-labels-idx1-ubyte": labels} {
			noError(t, os.WriteFile(filepath.Join(dir, set.name+file), data, 0o666))
		}
	}
	return dir
}

func TestMNIST(t *testing.T) {
	dir := mnistFiles(t)
	for _, preset := range []string{"source", "vit-rows"} {
		args := []string{"mnist", "-data", dir, "-preset", preset, "-epochs", "2"}
		one := mustRun(t, "", append(args, "-threads", "1")...)
		if !regexp.MustCompile(`^train accuracy: \d+\.\d\d% \(\d+/60\)\ntest accuracy: \d+\.\d\d% \(\d+/20\)\n$`).MatchString(one.stdout) {
			t.Errorf("%s: printed %s", preset, one.stdout)
		}
		mustHave(t, one.stderr, "epoch 2 of 2  step 2 of 2  loss ")
		loss := regexp.MustCompile(`loss \S+`)
		if two := mustRun(t, "", append(args, "-threads", "2")...); two.stdout != one.stdout || strings.Join(loss.FindAllString(two.stderr, -1), " ") != strings.Join(loss.FindAllString(one.stderr, -1), " ") {
			t.Errorf("%s: two threads printed\n%s%swant as with one\n%s%s", preset, two.stderr, two.stdout, one.stderr, one.stdout)
		}
	}
	if o := mustRun(t, "", "mnist", "-data", dir, "-epochs", "1", "-valid-images", "10"); !strings.Contains(o.stdout, "/50)\nvalidation accuracy: ") || !strings.HasSuffix(o.stdout, "/10)\n") {
		t.Errorf("-valid-images 10 printed %s", o.stdout)
	}
	mustFail(t, runTFM(t, "", "mnist", "-data", dir, "-preset", "resnet"), 2, `-preset is "resnet"`, "source or vit-rows")
	mustFail(t, runTFM(t, "", "mnist", "-data", dir, "-valid-images", "60"), 2, "-valid-images is 60", "0 to 59")
	path := filepath.Join(dir, "t10k-labels-idx1-ubyte")
	noError(t, os.Truncate(path, 20))
	mustFail(t, runTFM(t, "", "mnist", "-data", dir), 1, path, "20 bytes, expected 28")
}
