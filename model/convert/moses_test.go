package convert

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
	"tfm/text/moses"
	"tfm/text/subword"
	"tfm/text/vocab"
)

// subwordFolder returns the files of a CTranslate2 folder with codes of subword-nmt, as another
// program would write it.
func subwordFolder(t *testing.T) map[string][]byte {
	t.Helper()
	x := ct2Cases(t)["subword-nmt"]
	dir := t.TempDir()
	if err := WriteCTranslate2(dir, randomFile(t, x.config, x.tokenizers, 1)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, ct2Tokenizer) })
	files[ct2Config] = []byte(`{"add_source_eos": true, "decoder_start_token": "<s>"}`)
	return files
}

// checkMoses reports tokenizers without the rules of Moses.
func checkMoses(t *testing.T, f model.File, src, tgt moses.Settings) vocab.Tokenizers {
	t.Helper()
	v, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct {
		tokenizer any
		want      moses.Settings
	}{{v.Source, src}, {v.Target, tgt}} {
		s, ok := side.tokenizer.(*subword.Tokenizer)
		if !ok || s.Chain() == nil || s.Chain().Settings() != side.want {
			t.Fatalf("found %T, want Moses' rules %+v", side.tokenizer, side.want)
		}
	}
	return v
}

// A package of Argos Translate with codes takes and gives raw text by the rules of its languages,
// also after it was written as a package of tfm.
func TestReadArgosCodes(t *testing.T) {
	files := subwordFolder(t)
	entries := [][2]string{{"p/metadata.json", `{"from_code": "en", "to_code": "fr"}`}, {"p/bpe.model", string(files[ct2Codes])}}
	for name, data := range files {
		if name != ct2Codes {
			entries = append(entries, [2]string{"p/model/" + name, string(data)})
		}
	}
	path := filepath.Join(t.TempDir(), "p.argosmodel")
	if err := os.WriteFile(path, archiveOf(t, entries...), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := SetMosesLanguages(&f); err != nil {
		t.Fatal(err)
	}
	en, fr := moses.Settings{Language: "en", Normalize: true}, moses.Settings{Language: "fr", Normalize: true}
	v := checkMoses(t, f, en, fr)
	if c := f.Model.Config; c.Tie != model.TieAll {
		t.Errorf("tie %s, want that of the joint vocabulary", c.Tie)
	}
	if got, want := v.Target.Decode(v.Target.Encode(nil, "ka mi : l'ami")), "ka mi : l'ami"; got != want && !strings.Contains(got, "<unk>") {
		t.Errorf("%q, want %q", got, want)
	}
	dir := t.TempDir()
	if err := WriteArgos(dir, f); err != nil {
		t.Fatal(err)
	}
	again, err := Read(filepath.Join(dir, "translate-en_fr-1_0.argosmodel"))
	if err != nil {
		t.Fatal(err)
	}
	checkMoses(t, again, en, fr)
}

// A folder with codes of fairseq needs its languages.
func TestReadFairseqCodes(t *testing.T) {
	files := subwordFolder(t)
	var codes strings.Builder
	for line := range strings.Lines(string(files[ct2Codes])) {
		if !strings.HasPrefix(line, "#") {
			codes.WriteString(strings.TrimSpace(line) + " 7\n")
		}
	}
	delete(files, ct2Codes)
	files[fairseqCodes] = []byte(codes.String())
	f, err := readCTranslate2(inMemory(files), inMemory(files), ct2Package{})
	if err != nil {
		t.Fatal(err)
	}
	f.SrcLang, f.TgtLang = "en", ""
	checkError(t, "languages", SetMosesLanguages(&f), "found bpecodes of fairseq, which has rules for each language, expected -src-lang and -tgt-lang")
	f.TgtLang = "pt-BR"
	if err := SetMosesLanguages(&f); err != nil {
		t.Fatal(err)
	}
	checkMoses(t, f, moses.Settings{Language: "en", SplitDashes: true}, moses.Settings{Language: "pt", SplitDashes: true})
}
