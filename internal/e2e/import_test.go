package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// importOf imports a model that export wrote, and returns its path.
func importOf(t *testing.T, source string, flags ...string) (string, output) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "imported.safetensors")
	return out, mustRun(t, "", append(append([]string{"import", "-o", out}, flags...), source)...)
}

func TestImportRefuses(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.safetensors")
	opus := filepath.Join(dir, "opus-mt-en-de")
	noError(t, os.Mkdir(opus, 0o777))
	noError(t, os.WriteFile(filepath.Join(opus, "config.json"), []byte("{}"), 0o666))
	m := toyModel(t)
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		wants []string
	}{
		{"no source", []string{"import", "-o", out}, 2, []string{"found 0 arguments, expected one model"}},
		{"language", []string{"import", "-o", out, "-src-lang", "e", opus}, 2, []string{"-src-lang is \"e\"", "BCP 47"}},
		{"output exists", []string{"import", "-o", m, opus}, 1, []string{m + " already exists: -force replaces it"}},
		{"source missing", []string{"import", "-o", out, filepath.Join(dir, "absent")}, 1, []string{filepath.Join(dir, "absent"), "no such file"}},
		{"settings of another model", []string{"import", "-o", out, opus}, 1, []string{opus + ": found no model of another system"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := runTFM(t, "", c.args...)
			mustFail(t, o, c.code, c.wants...)
			if strings.Count(o.stderr, "\n") != 1 || o.stdout != "" {
				t.Errorf("more than one line of error:\n%s%s", o.stdout, o.stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a file was left behind")
			}
		})
	}
}
