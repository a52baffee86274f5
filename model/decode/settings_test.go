package decode

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
)

// A copy with other Settings has the same tensors and metadata otherwise.
func TestCopyWithSettings(t *testing.T) {
	dir := t.TempDir()
	in, out, want := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "want")
	f := model.File{Model: newModel(t, toy()), Tokenizers: map[string][]byte{"joint": {1, 2, 3}}, SrcLang: "en", Info: map[string]string{"trained": "no"}}
	d := Settings{LengthPenalty: PenaltyPower, Alpha: 0.5, AlignHeads: "1.0"}
	if err := f.Save(in); err != nil {
		t.Fatal(err)
	}
	if err := CopyWithSettings(in, out, d); err != nil {
		t.Fatal(err)
	}
	f.Decoding = d.String()
	if err := f.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err1 := os.ReadFile(out)
	expected, err2 := os.ReadFile(want)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, expected) {
		t.Errorf("error %v, or a file that differs from one written with the Settings", err)
	}
	if err := CopyWithSettings(in, out, Settings{LengthPenalty: "x"}); !errors.As(err, new(*model.FieldError)) {
		t.Errorf("error %v, want a *FieldError", err)
	}
	expected[len(expected)-1] ^= 1
	if err := os.WriteFile(in, expected, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := CopyWithSettings(in, out, d); err == nil || !strings.HasPrefix(err.Error(), in+": ") {
		t.Errorf("error %v of a damaged file, want one that names it", err)
	}
}

// Text that is no settings, or not valid ones, is an error that names the key.
func TestParseSettings(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                                                      "found array, expected decode.Settings",
		`{"alpha":1}`:                                             `length_penalty is "", expected wu or power`,
		`{"length_penalty":"gnmt","alpha":1}`:                     `length_penalty is "gnmt", expected wu or power`,
		`{"length_penalty":"power"}`:                              "alpha is missing",
		`{"length_penalty":"power","alpha":-1}`:                   "alpha is -1, expected 0 to 10",
		`{"length_penalty":"power","alpha":"1"}`:                  `alpha: found string, expected float64`,
		`{"length_penalty":"power","alpha":1,"wish":6}`:           `unknown field "wish"`,
		`{"length_penalty":"power","alpha":1,"beam":65}`:          `beam is 65, expected 1 to 64`,
		`{"length_penalty":"power","alpha":1,"length_factor":-1}`: `length_factor is -1, expected above 0`,
		`{"length_penalty":"wu","alpha":1,"suppressed":"4 3"}`:    `suppressed is "4 3", expected up to 4096 ids`,
		`{"length_penalty":"wu","alpha":1,"suppressed":"2"}`:      `suppressed is "2"`,
		`{"length_penalty":"wu","alpha":1,"align_heads":"1-2"}`:   `align_heads is "1-2"`,
	} {
		if _, err := ParseSettings(text); err == nil || !strings.HasPrefix(err.Error(), "decoding: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if d := (Settings{LengthPenalty: PenaltyPower, Alpha: math.NaN()}); !errors.As(d.Validate(), new(*model.FieldError)) {
		t.Error("no error for an alpha of NaN")
	}
	if got, err := ParseSettings(""); err != nil || got != PaperSettings() {
		t.Errorf("settings of a file without them: %+v, %v", got, err)
	}
	d := Settings{LengthPenalty: PenaltyPower, Alpha: 1.5, AlignHeads: "next 0.1", Suppressed: "3 4"}
	if got, err := ParseSettings(d.String()); err != nil || got != d {
		t.Errorf("%+v, error %v, want %+v", got, err, d)
	}
}
