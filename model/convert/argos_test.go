package convert

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/model"
	"tfm/model/convert/argos"
	"tfm/model/convert/ctranslate2"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
)

// goldenFolders returns the folders of CTranslate2 in testdata that have a tokenizer of
// SentencePiece.
func goldenFolders(t testing.TB) map[string]map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/ctranslate2-*/*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]byte{}
	for _, path := range paths {
		dir, name := filepath.Split(path)
		if all[dir] == nil {
			all[dir] = map[string][]byte{}
		}
		all[dir][name] = []byte(parttest.ReadFile(t, path))
	}
	maps.DeleteFunc(all, func(_ string, files map[string][]byte) bool { return files["sentencepiece.model"] == nil })
	return all
}

// archiveOf returns a zip archive with files of the given names and content.
func archiveOf(t testing.TB, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rawArchive returns an archive with one file of a header, whose sizes may be wrong.
func rawArchive(t *testing.T, h *zip.FileHeader, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h.CRC32, h.CompressedSize64 = crc32.ChecksumIEEE([]byte(content)), uint64(len(content))
	w, err := z.CreateRaw(h)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err := cmp.Or(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// writePackage writes a package with files, and returns its path.
func writePackage(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.argosmodel")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// packageOf returns a package in a folder: its metadata, the files of a folder of CTranslate2, the
// tokenizer beside them, and others.
func packageOf(t testing.TB, folder, meta string, files map[string][]byte, more ...[2]string) []byte {
	t.Helper()
	entries := append([][2]string{{folder + "/metadata.json", meta}}, more...)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir := folder + "/model/"
		if name == "sentencepiece.model" || name == ctranslate2.CodesFile {
			dir = folder + "/"
		}
		entries = append(entries, [2]string{dir + name, string(files[name])})
	}
	return archiveOf(t, entries...)
}

// Archives that are not packages, or made to do harm, are refused with the reason.
func TestReadArgosRefuses(t *testing.T) {
	meta := [2]string{"x/metadata.json", `{"from_code": "en", "to_code": "de"}`}
	spm := [2]string{"x/sentencepiece.model", "?"}
	bin := [2]string{"x/model/model.bin", "\x06\x00\x00\x00"}
	bomb := [2]string{"x/model/model.bin", string(make([]byte, 16<<20))}
	link := &zip.FileHeader{Name: "x/metadata.json", UncompressedSize64: 11}
	link.SetMode(fs.ModeSymlink | 0o777)
	large := &zip.FileHeader{Name: "metadata.json", UncompressedSize64: 1 << 40}
	truncated := archiveOf(t, meta, spm, bin)
	short := archiveOf(t, meta, spm, [2]string{"x/model/model.bin", strings.Repeat("0123456789abcdef", 8)})
	size := bytes.LastIndex(short, []byte{128, 0, 0, 0}) // uncompressed size in the directory
	short[size] = 127
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":            {nil, "zip: not a valid zip file"},
		"no zip":           {[]byte("PK\x03\x04 but no archive"), "zip: not a valid zip file"},
		"truncated":        {truncated[:len(truncated)-30], "zip: not a valid zip file"},
		"no metadata":      {archiveOf(t, spm, bin), "found 0 files metadata.json"},
		"two packages":     {archiveOf(t, meta, [2]string{"y/metadata.json", "{}"}), "found 2 files metadata.json"},
		"deep metadata":    {archiveOf(t, [2]string{"a/b/metadata.json", "{}"}), "a/b: found neither sentencepiece.model nor bpe.model"},
		"parent":           {archiveOf(t, meta, [2]string{"x/../../etc/passwd", ""}), `found a file "x/../../etc/passwd", expected a path in the archive`},
		"absolute":         {archiveOf(t, meta, [2]string{"/etc/passwd", ""}), `found a file "/etc/passwd"`},
		"backslash":        {archiveOf(t, meta, [2]string{`x\..\y`, ""}), `expected a path in the archive`},
		"drive":            {archiveOf(t, meta, [2]string{"C:x", ""}), `expected a path in the archive`},
		"duplicate":        {archiveOf(t, meta, meta), `found "x/metadata.json" twice`},
		"bomb":             {archiveOf(t, meta, spm, bomb), `found "x/model/model.bin" of 16777216 bytes, expected at most`},
		"metadata":         {archiveOf(t, [2]string{"metadata.json", "["}), `metadata.json: unexpected end of JSON input`},
		"type":             {archiveOf(t, [2]string{"metadata.json", `{"type": "sbd"}`}), `found a package of type "sbd", expected translate`},
		"languages":        {archiveOf(t, [2]string{"metadata.json", `{"to_codes": ["de", "fr"]}`}), `found several languages on a side`},
		"no tokenizer":     {archiveOf(t, meta, bin), `found neither sentencepiece.model nor bpe.model`},
		"no model":         {archiveOf(t, meta, spm), `model.bin: file does not exist`},
		"no binary":        {archiveOf(t, meta, spm, bin), `model.bin: found 0 bytes at offset 4, expected 2 of the name of the specification`},
		"link":             {rawArchive(t, link, "/etc/passwd"), `found "x/metadata.json", L---------, expected files and folders`},
		"size":             {rawArchive(t, large, "small"), `found "metadata.json" of 1099511627776 bytes, expected at most`},
		"size in the file": {short, `"x/model/model.bin"`},
	} {
		_, err := argos.Read(writePackage(t, c.data))
		parttest.CheckError(t, name, err, c.want)
		if err != nil && strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: error of several lines: %v", name, err)
		}
	}
}

// A package, as an archive and unpacked, has the languages of its metadata, Argos Translate's
// length penalty, and no unknown pieces in translations.
func TestReadArgos(t *testing.T) {
	for kind, files := range goldenFolders(t) {
		path := writePackage(t, packageOf(t, "translate-zt_en-1_9", `{"from_code": "zt", "to_code": "en", "package_version": "1.9", "links": []}`, files,
			[2]string{"translate-zt_en-1_9/README.md", "# Readme"}, [2]string{"translate-zt_en-1_9/stanza/resources.json", "{}"}))
		f, err := argos.Read(path)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		unpacked := t.TempDir()
		r, err := zip.OpenReader(path)
		if err == nil {
			err = os.CopyFS(unpacked, r)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if g, err := argos.Read(filepath.Join(unpacked, "translate-zt_en-1_9")); err != nil {
			t.Errorf("%s: %v", kind, err)
		} else {
			checkSame(t, g, f)
		}
		if f.SrcLang != "zh-Hant" || f.TgtLang != "en" {
			t.Errorf("%s: languages %q and %q, want zh-Hant and en", kind, f.SrcLang, f.TgtLang)
		}
		v, err := vocab.UnmarshalTokenizers(f.Tokenizers)
		if err != nil {
			t.Fatal(err)
		}
		d := parttest.SettingsOf(t, f)
		suppressed, err := decode.ParseSuppressed(d.Suppressed)
		if err != nil {
			t.Fatal(err)
		}
		if unknown := v.Target.Encode(nil, "€"); !slices.Contains(suppressed, unknown[len(unknown)-1]) || d.Alpha != 0.2 || d.LengthPenalty != decode.PenaltyPower {
			t.Errorf("%s: decoding %+v, want length^0.2 and piece %d suppressed", kind, d, unknown)
		}
		const want = "Argos Translate, zt to en, version 1.9; CTranslate2, binary version 6"
		if got := f.Info["source"]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: source %q, want %q", kind, got, want)
		}
	}
}

// The token of target_prefix begins every target, and must be one of the model.
func TestReadArgosPrefix(t *testing.T) {
	for _, files := range goldenFolders(t) {
		var tokens []string
		if err := json.Unmarshal(files["shared_vocabulary.json"], &tokens); err != nil {
			t.Fatal(err)
		}
		token := tokens[len(tokens)-1]
		read := func(prefix string) (model.File, error) {
			return argos.Read(writePackage(t, packageOf(t, "p", `{"from_code": "en", "to_code": "es", "target_prefix": "`+prefix+`"}`, files)))
		}
		f, err := read(token)
		if err != nil {
			t.Fatal(err)
		}
		c := f.Model.Config
		if list := c.TgtLanguages.List(); len(list) != 1 || list[0].Code != "es" || !c.TargetBegins || parttest.TokenizersOf(t, f).Target.Piece(list[0].IDs[0]) != token {
			t.Errorf("languages %q, want es=, the id of %q", c.TgtLanguages, token)
		}
		if _, err := read("__es__"); err == nil || !strings.Contains(err.Error(), `found no token "__es__"`) {
			t.Errorf("error %v, want one of the token", err)
		}
	}
}

// subwordFolder returns the files of a CTranslate2 folder with codes of subword-nmt, as another
// program would write it.
func subwordFolder(t *testing.T) map[string][]byte {
	t.Helper()
	source, target := texttest.Pairs(300)
	c := model.Config{DModel: 16, Heads: 2, DFF: 32, EncoderLayers: 2, DecoderLayers: 2, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 128}
	dir := t.TempDir()
	if err := ctranslate2.Write(dir, randomFile(t, c, subwordOf(t, slices.Concat(source, target)), 1)); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{ctranslate2.CodesFile, ctranslate2.ModelFile, "shared_vocabulary.json"} {
		files[name] = []byte(parttest.ReadFile(t, filepath.Join(dir, name)))
	}
	files[ctranslate2.ConfigFile] = []byte(`{"add_source_eos": true, "decoder_start_token": "<s>"}`)
	return files
}

// A package with codes takes and gives raw text by the rules of its languages.
func TestReadArgosCodes(t *testing.T) {
	f, err := argos.Read(writePackage(t, packageOf(t, "p", `{"from_code": "en", "to_code": "fr"}`, subwordFolder(t))))
	if err != nil {
		t.Fatal(err)
	}
	v := parttest.TokenizersOf(t, f)
	for language, tokenizer := range map[string]text.Tokenizer{"en": v.Source, "fr": v.Target} {
		if s, ok := tokenizer.(*subword.Tokenizer); !ok || s.Chain() == nil || s.Chain().Language() != language {
			t.Fatalf("found %T, want Moses' rules for %s", tokenizer, language)
		}
	}
	if c := f.Model.Config; c.Tie != model.TieAll {
		t.Errorf("tie %s, want that of the joint vocabulary", c.Tie)
	}
	if got, want := v.Target.Decode(v.Target.Encode(nil, "ka mi : l'ami")), "ka mi : l'ami"; got != want && !strings.Contains(got, "<unk>") {
		t.Errorf("%q, want %q", got, want)
	}
}

// Any archive is read or refused, and its files are in bounded memory.
func FuzzReadArgos(f *testing.F) {
	for _, files := range goldenFolders(f) {
		f.Add(packageOf(f, "x", `{"from_code": "de", "to_code": "en"}`, files))
	}
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := argos.Read(writePackage(t, data))
		parttest.CheckFuzzed(t, file, err)
	})
}
