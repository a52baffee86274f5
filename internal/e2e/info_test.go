package e2e

import (
	"encoding/json"
	"testing"
)

func TestInfoJSON(t *testing.T) {
	m := toyModel(t)
	var got struct {
		Config struct {
			DModel int `json:"d_model"`
		}
		Weights           string
		Bytes, Parameters int
	}
	noError(t, json.Unmarshal([]byte(mustRun(t, "", "info", m, "-json").stdout), &got))
	if got.Config.DModel == 0 || got.Weights != "float32" || got.Bytes < 4*got.Parameters || got.Parameters == 0 {
		t.Errorf("tfm info -json = %+v", got)
	}
	if file, flag := mustRun(t, "", "info", m).stdout, mustRun(t, "", "info", "-model", m).stdout; file != flag {
		t.Errorf("tfm info MODEL =\n%s\nwant that of -model:\n%s", file, flag)
	}
}
