package convert

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// saveFiles writes files to a new folder and returns its path.
func saveFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipOf returns a zip file with empty files of these names.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var b strings.Builder
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Pickled files are recognised by their content, and the error says why they are not read and how
// to convert them.
func TestCheckPickle(t *testing.T) {
	const legacy = "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M"
	zipped := zipOf(t, "archive/data.pkl", "archive/data/0")
	dir := saveFiles(t, map[string]string{
		"old.pt": legacy, "new.pt": zipped, "dict.pkl": "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}", "a b.pth": zipped,
		"model.argosmodel": zipOf(t, "a/metadata.json"), "text": "some text", "empty": "", "short": "\x80\x02", "model.txt": "\x06\x00\x00\x00\x0f\x00", "half.zip": zipped[:40],
	})
	for name, pickled := range map[string]bool{
		"old.pt": true, "new.pt": true, "dict.pkl": true, "a b.pth": true,
		"model.argosmodel": false, "text": false, "empty": false, "short": false, "model.txt": false, "half.zip": false, "absent": false,
	} {
		err := checkPickle(filepath.Join(dir, name))
		var e *PickleError
		if errors.As(err, &e) != pickled {
			t.Errorf("%s: error %v, want one: %v", name, err, pickled)
		}
		if pickled && (!strings.Contains(err.Error(), "runs code") || !strings.Contains(err.Error(), "ct2-opennmt-py-converter --model_path") || !strings.Contains(err.Error(), name)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := checkPickle(filepath.Join(dir, "a b.pth")); !strings.Contains(err.Error(), "a b.pth' --output_dir") {
		t.Errorf("error %v, want a quoted path", err)
	}

	hub := saveFiles(t, map[string]string{"config.json": "{}", "pytorch_model.bin": zipped})
	for _, path := range []string{hub, filepath.Join(hub, "pytorch_model.bin")} {
		err := checkPickle(path)
		if err == nil || !strings.Contains(err.Error(), `M.from_pretrained('`+filepath.ToSlash(hub)+`').save_pretrained('`) || !strings.Contains(err.Error(), "pytorch_model.bin is a pickle") {
			t.Errorf("error %v, want the lines of transformers", err)
		}
	}
	both := saveFiles(t, map[string]string{"config.json": "{}", "pytorch_model.bin": zipped, "model.safetensors": ""})
	if err := checkPickle(both); err != nil {
		t.Errorf("a folder with model.safetensors: %v", err)
	}
}
