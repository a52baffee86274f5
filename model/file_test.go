package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tfm/layer"
	"tfm/model/safetensors"
)

func TestModelFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	f := File{newModel(t, toy()), nil, map[string][]byte{"joint": {1, 2, 3}}, nil, "EN", "zh-hant", `{"alpha":1.5}`, map[string]string{"trained": "no", "checksum": "mine"}}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.Model.Config != f.Model.Config || !bitsEqual(got.Model.Params.W, f.Model.Params.W) || !bytes.Equal(got.Tokenizers["joint"], []byte{1, 2, 3}) {
		t.Error("Load returned another model than Save wrote")
	}
	info := map[string]string{"trained": "no"}
	if got.SrcLang != "en" || got.TgtLang != "zh-Hant" || !maps.Equal(got.Info, info) {
		t.Errorf("languages %q and %q, info %q; want en, zh-Hant and %q", got.SrcLang, got.TgtLang, got.Info, info)
	}
	if got.Decoding != f.Decoding {
		t.Errorf("decoding %+v, want %+v", got.Decoding, f.Decoding)
	}
	if h, err := LoadHeader(path); err != nil || h.Config != f.Model.Config || h.Decoding != f.Decoding || h.SrcLang != "en" || h.TgtLang != "zh-Hant" || !maps.Equal(h.Info, info) {
		t.Errorf("LoadHeader = %+v, %v, want the header of %+v", h, err, f)
	}
	rest, c, err := LoadWithoutWeights(path)
	if got.Model = nil; err != nil || c != f.Model.Config || !reflect.DeepEqual(rest, got) {
		t.Errorf("LoadWithoutWeights = %+v, %v, want %+v", rest, err, got)
	}
}

// Without languages the metadata has no language keys, as in files of the first version.
func TestModelFileWithoutLanguages(t *testing.T) {
	meta, _, err := File{Model: newModel(t, toy())}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{keySrcLang, keyTgtLang} {
		if _, ok := meta[key]; ok {
			t.Errorf("metadata %q has %s", meta, key)
		}
	}
	if h, err := DecodeHeader(meta); err != nil || h.SrcLang != "" || h.TgtLang != "" {
		t.Errorf("languages %q and %q, %v; want none", h.SrcLang, h.TgtLang, err)
	}
	for _, f := range []File{{SrcLang: "en_US"}, {SrcLang: "en", TgtLang: "de_DE"}, {TgtLang: "x"}} {
		f.Model = newModel(t, toy())
		_, _, err := f.Encode()
		var invalid *FieldError
		if !errors.As(err, &invalid) || f.SrcLang == "en" && invalid.Field != "tgt_lang" {
			t.Errorf("languages %q and %q: error %v, want a *FieldError", f.SrcLang, f.TgtLang, err)
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
		"no format":      {map[string]string{}, tensors, `no "format" in the metadata: a safetensors file, but not a tfm model`},
		"newer format":   {with("format", "tfm 99"), tensors, `found format "tfm 99", expected "tfm 1"`},
		"bad config":     {with("config", "{"), tensors, "configuration: unexpected EOF"},
		"unknown field":  {with("config", `{"gate":"swish"}`), tensors, `unknown field "gate"`},
		"unknown name":   {with("config", `{"heads":4,"activation":"relu","norm":"sideways"}`), tensors, `configuration: "sideways" is not one of post, pre, deep`},
		"no number":      {with("config", `{"heads":"four"}`), tensors, `configuration: heads: found string, expected int`},
		"field twice":    {with("config", strings.Replace(meta["config"], `"heads":4`, `"heads":8,"heads":4`, 1)), tensors, `configuration: found field "heads" twice`},
		"no value":       {with("config", `{"dropout":null}`), tensors, `configuration: dropout: found null`},
		"trailing data":  {with("config", meta["config"]+"{}"), tensors, `configuration: found "{" after the object`},
		"invalid config": {with("config", strings.Replace(meta["config"], `"heads":4`, `"heads":5`, 1)), tensors, "a multiple of the 5 heads"},
		"language":       {with("tgt_lang", "de_CH"), tensors, `metadata: tgt_lang is "de_CH", expected a BCP 47 language tag`},
		"missing":        {meta, tensors[1:], `tensor "embedding" is missing`},
		"other shape":    {with("config", strings.Replace(meta["config"], `"d_ff":24`, `"d_ff":25`, 1)), tensors, `found shape [16 24], expected [16 25] as in the configuration`},
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
		t.Errorf("altered byte: error %v, want a checksum error", err)
	}
}

// Encode writes every header that DecodeHeader accepts, and DecodeHeader returns it unchanged.
func FuzzDecodeHeader(f *testing.F) {
	text, err := json.Marshal(toy())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), "en", "zh-Hant", `{"length_penalty":"power","alpha":1}`, "info")
	f.Add(strings.Replace(string(text), `"tie":"all"`, `"norm":"pre","activation":"silu","tie":"none"`, 1), "", "DE-ch-1996", `{"length_penalty":"wu","alpha":1e-3}`, "")
	f.Add(`{"heads":1e3}`, "x", "", "", "")
	f.Fuzz(func(t *testing.T, config, src, tgt, decoding, info string) {
		h, err := DecodeHeader(map[string]string{"format": format, "config": config, "src_lang": src, "tgt_lang": tgt, "decoding": decoding, "info": info})
		if err != nil {
			return
		}
		m := &Transformer{Config: h.Config, Params: new(layer.Params)}
		meta, _, err := File{Model: m, SrcLang: h.SrcLang, TgtLang: h.TgtLang, Decoding: h.Decoding, Info: h.Info}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeHeader(meta)
		if err != nil || again.Config != h.Config || again.SrcLang != h.SrcLang || again.TgtLang != h.TgtLang || again.Decoding != h.Decoding || !maps.Equal(again.Info, h.Info) {
			t.Errorf("after Encode: %+v, %v; want %+v", again, err, h)
		}
	})
}
