package e2e

import (
	"path/filepath"
	"testing"
)

// inLanguages writes a copy of a model with other languages.
func inLanguages(t *testing.T, path, src, tgt string) string {
	t.Helper()
	f := loadModel(t, path)
	f.SrcLang, f.TgtLang = src, tgt
	out := filepath.Join(t.TempDir(), src+"-"+tgt+".safetensors")
	noError(t, f.Save(out))
	return out
}

func TestAverageKeepsTheLanguages(t *testing.T) {
	m := inLanguages(t, toyModel(t), "", "")
	out := filepath.Join(t.TempDir(), "mean.safetensors")
	half := inLanguages(t, m, "", "fr")
	mustRun(t, "", "average", "-o", out, m, half, inLanguages(t, m, "en", "fr"))
	mustHave(t, mustRun(t, "", "info", "-model", out).stdout, "languages:       en to fr\n")
	other := inLanguages(t, m, "en", "fr-CA")
	mustFail(t, runTFM(t, "", "average", "-force", "-o", out, m, half, other), 1, other, `found languages "en" to "fr-CA"`, `expected "en" to "fr"`)
}
