package train

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// there reports whether a file is there.
func there(path string) bool {
	found, _ := exists(path)
	return found
}

// A worker's file that cannot be examined is an error, not a worker that is missing: a merge with a
// quorum would go without it.
func TestMembersOfUnreadableFiles(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	o.Rounds.Workers, o.Rounds.Rounds, o.Rounds.LocalSteps = 2, 1, 1
	for _, path := range []string{o.OuterPath(1), o.WorkerPath(1, 0)} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	loop := o.WorkerPath(1, 1)
	if err := os.Symlink(filepath.Base(loop), loop); err != nil {
		t.Skip("optional: needs symbolic links")
	}
	if members, err := o.Members(1, 1); err == nil || errors.As(err, new(IncompleteError)) {
		t.Errorf("members %v, error %v, want that of %s", members, err, loop)
	}
}
