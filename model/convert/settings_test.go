package convert

import (
	"testing"

	"tfm/model"
	"tfm/model/decode"
)

// settingsOf returns the settings of f.
func settingsOf(t testing.TB, f model.File) decode.Settings {
	t.Helper()
	d, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// setSettings changes the settings of f.
func setSettings(t testing.TB, f *model.File, change func(*decode.Settings)) {
	t.Helper()
	d := settingsOf(t, *f)
	change(&d)
	f.Decoding = d.String()
}
