package model

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model/safetensors"
)

func TestModelFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	f := File{newModel(t, toy()), map[string][]byte{"joint": {1, 2, 3}}, map[string]string{"trained": "not at all"}}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.Model.Config != f.Model.Config || !bitsEqual(got.Model.Params.W, f.Model.Params.W) ||
		!bytes.Equal(got.Tokenizers["joint"], []byte{1, 2, 3}) || got.Info["trained"] != "not at all" || len(got.Info) != 1 {
		t.Error("what was loaded is not what was saved")
	}
	if c, err := LoadConfig(path); err != nil || c != f.Model.Config {
		t.Errorf("LoadConfig: %+v, %v", c, err)
	}
}

func TestModelFileErrors(t *testing.T) {
	dir := t.TempDir()
	good := File{Model: newModel(t, toy())}
	meta, tensors, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	with := func(key, value string) map[string]string {
		m := map[string]string{}
		for k, v := range meta {
			m[k] = v
		}
		m[key] = value
		return m
	}
	for name, c := range map[string]struct {
		meta    map[string]string
		tensors []safetensors.Tensor
		want    string
	}{
		"no format":      {map[string]string{}, tensors, "not a model of tfm"},
		"newer format":   {with("format", "tfm 99"), tensors, `its format is "tfm 99", this program reads "tfm 1"`},
		"bad config":     {with("config", "{"), tensors, "its configuration: unexpected EOF"},
		"unknown field":  {with("config", `{"gate":"swish"}`), tensors, `unknown field "gate"`},
		"unknown name":   {with("config", `{"heads":4,"activation":"relu","norm":"sideways"}`), tensors, `its configuration: norm: "sideways" is none of post, pre, deep`},
		"no number":      {with("config", `{"heads":"four"}`), tensors, `its configuration: heads: found "four", expected int`},
		"other case":     {with("config", strings.Replace(meta["config"], `"heads"`, `"Heads"`, 1)), tensors, `its configuration: unknown field "Heads", expected "heads"`},
		"field twice":    {with("config", strings.Replace(meta["config"], `"heads":4`, `"heads":8,"heads":4`, 1)), tensors, `its configuration: field "heads" twice`},
		"no value":       {with("config", `{"dropout":null}`), tensors, `its configuration: dropout: found null, expected float32`},
		"trailing data":  {with("config", meta["config"]+"{}"), tensors, `its configuration: found "{" after the object`},
		"invalid config": {with("config", strings.Replace(meta["config"], `"heads":4`, `"heads":5`, 1)), tensors, "a multiple of the 5 heads"},
		"missing":        {meta, tensors[1:], `tensor "embedding" is missing`},
		"other shape":    {with("config", strings.Replace(meta["config"], `"d_ff":24`, `"d_ff":25`, 1)), tensors, `has shape [16 24], the configuration says [16 25]`},
	} {
		path := filepath.Join(dir, "x.safetensors")
		if err := safetensors.Write(path, c.meta, c.tensors); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	path := filepath.Join(dir, "good.safetensors")
	if err := good.Save(path); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	data[len(data)-5] ^= 1
	os.WriteFile(path, data, 0o644)
	if _, err := Load(path, false); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("an altered byte: %v", err)
	}
}
