package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/layer"
	"tfm/model/safetensors"
)

func TestModelFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	f := File{newModel(t, toy()), map[string][]byte{"joint": {1, 2, 3}}, "EN", "zh-hant", map[string]string{"trained": "not at all", "checksum": "mine"}}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.Model.Config != f.Model.Config || !bitsEqual(got.Model.Params.W, f.Model.Params.W) || !bytes.Equal(got.Tokenizers["joint"], []byte{1, 2, 3}) {
		t.Error("the model that was loaded is not the one that was saved")
	}
	info := map[string]string{"trained": "not at all"}
	if got.SrcLang != "en" || got.TgtLang != "zh-Hant" || !maps.Equal(got.Info, info) {
		t.Errorf("from %q to %q with %q, expected en, zh-Hant and %q", got.SrcLang, got.TgtLang, got.Info, info)
	}
	if h, err := LoadHeader(path); err != nil || h.Config != f.Model.Config || h.SrcLang != "en" || h.TgtLang != "zh-Hant" || !maps.Equal(h.Info, info) {
		t.Errorf("LoadHeader: %+v, %v", h, err)
	}
	if tokenizers, err := LoadTokenizers(path); err != nil || len(tokenizers) != 1 || !bytes.Equal(tokenizers["joint"], []byte{1, 2, 3}) {
		t.Errorf("LoadTokenizers: %v, %v", tokenizers, err)
	}
}

// A model need not say its languages, and says nothing of them in its metadata then, as before
// there were any.
func TestModelFileWithoutLanguages(t *testing.T) {
	meta, _, err := File{Model: newModel(t, toy())}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{keySrcLang, keyTgtLang} {
		if _, ok := meta[key]; ok {
			t.Errorf("metadata %q has %s, expected none", meta, key)
		}
	}
	if h, err := DecodeHeader(meta); err != nil || h.SrcLang != "" || h.TgtLang != "" {
		t.Errorf("found %q, %q, %v, expected no languages", h.SrcLang, h.TgtLang, err)
	}
	for _, f := range []File{{SrcLang: "en_US"}, {SrcLang: "en", TgtLang: "de_DE"}, {TgtLang: "x"}} {
		f.Model = newModel(t, toy())
		_, _, err := f.Encode()
		var invalid *FieldError
		if !errors.As(err, &invalid) || f.SrcLang == "en" && invalid.Field != "tgt_lang" {
			t.Errorf("from %q to %q: error %v, expected a FieldError", f.SrcLang, f.TgtLang, err)
		}
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
		"language":       {with("tgt_lang", "de_CH"), tensors, `its metadata: tgt_lang is "de_CH", expected a language tag of BCP 47`},
		"missing":        {meta, tensors[1:], `tensor "embedding" is missing`},
		"other shape":    {with("config", strings.Replace(meta["config"], `"d_ff":24`, `"d_ff":25`, 1)), tensors, `has shape [16 24], expected [16 25] as the configuration says`},
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

// A header that is accepted is one that Encode writes, and reads back as the same.
func FuzzDecodeHeader(f *testing.F) {
	text, err := json.Marshal(toy())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), "en", "zh-Hant", "info")
	f.Add(strings.Replace(string(text), `"tie":"all"`, `"norm":"pre","activation":"silu","tie":"none"`, 1), "", "DE-ch-1996", "")
	f.Add(`{"heads":1e3}`, "x", "", "")
	f.Fuzz(func(t *testing.T, config, src, tgt, info string) {
		h, err := DecodeHeader(map[string]string{"format": format, "config": config, "src_lang": src, "tgt_lang": tgt, "info": info})
		if err != nil {
			return
		}
		m := &Transformer{Config: h.Config, Params: new(layer.Params)}
		meta, _, err := File{Model: m, SrcLang: h.SrcLang, TgtLang: h.TgtLang, Info: h.Info}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeHeader(meta)
		if err != nil || again.Config != h.Config || again.SrcLang != h.SrcLang || again.TgtLang != h.TgtLang || !maps.Equal(again.Info, h.Info) {
			t.Errorf("%+v, %v, expected %+v again", again, err, h)
		}
	})
}
