package translator

import (
	"os"
	"path/filepath"
	"testing"
)

// The layout is that of huggingface_hub 0.36.
func TestFind(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HF_HOME", home)
	snapshots := func(model string) string { return filepath.Join(home, "hub", "models--"+model, "snapshots") }
	opus, two := snapshots("Helsinki-NLP--opus-mt-en-de"), snapshots("a--b.1")
	local := filepath.Join("local", "model")
	refs := filepath.Join(home, "hub", "models--Helsinki-NLP--opus-mt-en-de", "refs")
	for _, dir := range []string{filepath.Join(opus, "aa"), filepath.Join(opus, "bb"), filepath.Join(two, "cc"), filepath.Join(two, "dd"), refs, local} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(refs, "main"), []byte("aa"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Helsinki-NLP/opus-mt-en-de": filepath.Join(opus, "aa"),
		"opus-mt-en-de":              filepath.Join(opus, "aa"),
		"a/b.1":                      filepath.Join(two, "dd"),
		local:                        local,
		"absent":                     "absent",
		"./a/b.1":                    "./a/b.1",
		"absent/en_de.argosmodel":    "absent/en_de.argosmodel",
		"absent/folder":              "",
	} {
		if path, err := FindDownloaded(name); path != want || (err == nil) == (want == "") {
			t.Errorf("FindDownloaded(%q) = %q, %v, want %q", name, path, err, want)
		}
	}
}
