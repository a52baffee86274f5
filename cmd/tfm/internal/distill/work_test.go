package distill

import (
	"os"
	"path/filepath"
	"testing"
)

// Records that cannot be examined are an error, not work that has not begun, whose unfinished files
// would be removed.
func TestUnreadableRecords(t *testing.T) {
	w := Work{Out: filepath.Join(t.TempDir(), "student.safetensors")}
	if err := os.MkdirAll(w.Dir(), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("last.begun", w.File("last.begun")); err != nil {
		t.Skip("optional: needs symbolic links")
	}
	if err := w.Begin("last"); err == nil {
		t.Error("Begin with a record that cannot be examined: no error")
	}
}
