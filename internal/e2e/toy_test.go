package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// toy is a corpus and a model that several tests use: phrases of an adjective and a noun, which
// change places.
var toy struct {
	once                   sync.Once
	dir, src, tgt, testSrc string
	testTgt, model         string
	training               output
}

var (
	toyAdjectives = [][2]string{{"red", "rouge"}, {"black", "noir"}, {"small", "petit"}, {"big", "grand"}, {"old", "vieux"}, {"new", "neuf"}, {"good", "bon"}, {"bad", "mauvais"}}
	toyNouns      = [][2]string{{"dog", "chien"}, {"cat", "chat"}, {"house", "maison"}, {"tree", "arbre"}, {"book", "livre"}, {"car", "voiture"}, {"table", "table"}, {"hand", "main"}}
	toyVerbs      = [][2]string{{"sees", "voit"}, {"takes", "prend"}, {"likes", "aime"}}
)

// toySmall makes training take a moment: a step is some milliseconds, and three hundred learn the
// toy.
var toySmall = []string{"-preset", "demo", "-set", "d-model=32", "-set", "d-ff=64", "-set", "heads=2", "-set", "encoder-layers=1", "-set", "decoder-layers=1",
	"-vocab-size", "320", "-batch-tokens", "200", "-max-len", "40", "-lr", "0.005", "-set", "warmup=50", "-valid-every", "0", "-save-every", "0"}

func toyCorpus(t *testing.T) (src, tgt string) {
	t.Helper()
	makeToy(t)
	return toy.src, toy.tgt
}

func toyModel(t *testing.T) string {
	t.Helper()
	makeToy(t)
	return toy.model
}

func makeToy(t *testing.T) {
	t.Helper()
	toy.once.Do(func() {
		var err error
		if toy.dir, err = os.MkdirTemp("", "tfm-toy-*"); err != nil {
			t.Fatal(err)
		}
		var src, tgt, testSrc, testTgt strings.Builder
		i := 0
		for _, a := range toyAdjectives {
			for _, n := range toyNouns {
				for _, v := range toyVerbs {
					for _, o := range toyNouns {
						s, t := &src, &tgt
						if i++; i%31 == 0 {
							s, t = &testSrc, &testTgt
						}
						fmt.Fprintf(s, "the %s %s %s the %s\n", a[0], n[0], v[0], o[0])
						fmt.Fprintf(t, "le %s %s %s le %s\n", n[1], a[1], v[1], o[1])
					}
				}
			}
		}
		put := func(name string, b *strings.Builder) string {
			path := filepath.Join(toy.dir, name)
			noError(t, os.WriteFile(path, []byte(b.String()), 0o666))
			return path
		}
		toy.src, toy.tgt = put("train.en", &src), put("train.fr", &tgt)
		toy.testSrc, toy.testTgt = put("test.en", &testSrc), put("test.fr", &testTgt)
		toy.model = filepath.Join(toy.dir, "toy.safetensors")
		toy.training = runTFM(t, "", append([]string{"train", "-src", toy.src, "-tgt", toy.tgt, "-o", toy.model, "-steps", "300"}, toySmall...)...)
	})
	if toy.training.code != 0 {
		t.Fatalf("training the toy model: exit code %d\n%s", toy.training.code, toy.training.stderr)
	}
}

// trainArgs is a training of the toy corpus to a model in a folder of the test's own, with more
// flags.
func trainArgs(t *testing.T, more ...string) (args []string, model string) {
	t.Helper()
	src, tgt := toyCorpus(t)
	model = filepath.Join(t.TempDir(), "m.safetensors")
	args = append([]string{"train", "-src", src, "-tgt", tgt, "-o", model}, toySmall...)
	return append(args, more...), model
}
