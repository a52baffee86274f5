package tokenizers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two tokenizers with a comma between them are those of source and target.
func TestReadPair(t *testing.T) {
	dir := t.TempDir()
	read := func(names string) (pieces [2]int, err error) {
		v, err := Read(names)
		if err == nil {
			pieces = [2]int{v.Source.Size(), v.Target.Size()}
		}
		return pieces, err
	}
	names := []string{filepath.Join(dir, "source"), filepath.Join(dir, "target")}
	for i, name := range names {
		if err := os.WriteFile(name+".txt", []byte("low lower lowest slow slower slowest\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Train(name, 262+i, []string{name + ".txt"}); err != nil {
			t.Fatal(err)
		}
		if got, err := read(name); err != nil || got != [2]int{262 + i, 262 + i} {
			t.Errorf("Read(%s) has %v pieces, %v, want %d on both sides", name, got, err, 262+i)
		}
	}
	if got, err := read(strings.Join(names, ",")); err != nil || got != [2]int{262, 263} {
		t.Errorf("Read of both has %v pieces, %v, want 262 and 263", got, err)
	}
	if _, err := read(names[0] + ",none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("Read of a pair without its second file: %v, want an error that names it", err)
	}
}
