package marian

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/sentencepiece"
)

// studentConfig makes a configuration that of a small student.
func studentConfig(c *model.Config) {
	c.Autoreg, c.Positions, c.OutputBias, c.NormEps = model.SSRU, model.TimingSignal, true, normEps
	c.DModel, c.DFF, c.Dropout, c.LabelSmoothing, c.MaxLen, c.FinalNorm = 64, 64, 0, 0, 1024, model.FinalNormOff
}

// studentFile returns a student with random weights and lists, whose vocabularies have the pieces
// of Marian's.
func studentFile(t testing.TB, joint bool) model.File {
	t.Helper()
	v := parttest.TokenizersOf(t, parttest.RandomModelFile(t, joint, studentConfig))
	for _, side := range []*text.Tokenizer{&v.Source, &v.Target} {
		padded, err := newVocabulary(*side)
		if err == nil {
			*side, err = sentencepiece.Unmarshal(padded.file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if joint {
		v.Target = v.Source
	}
	f := parttest.RandomModelOf(t, v, studentConfig)
	f.Decoding = decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: 1, Search: decode.SearchShrinking, Beam: 1, LengthFactor: 2, Suppressed: "3"}.String()
	c := f.Model.Config
	s := &decode.Shortlist{Always: []int32{2, 3, 7, 12}, Starts: []int32{0}, Fill: decode.ShortlistFill{Multiple: 8, Limit: int32(c.TgtVocab)}}
	for id := range int32(c.SrcVocab) {
		if id > model.EOS {
			list := []int32{4 + id%3, 13 + id%5}
			if joint {
				list = append(list, id)
			}
			slices.Sort(list)
			for _, id := range slices.Compact(list) {
				if !slices.Contains(s.Always, id) {
					s.Pieces = append(s.Pieces, id)
				}
			}
		}
		s.Starts = append(s.Starts, int32(len(s.Pieces)))
	}
	f.Shortlist = s.Tensors()
	parttest.SetSettings(t, &f, func(d *decode.Settings) { d.Shortlist = true })
	if err := s.Validate(c); err != nil {
		t.Fatal(err)
	}
	return f
}

// A student that is written and read again has the same settings and lists, and weights rounded to
// integers, which another round trip keeps.
func TestWriteMarian(t *testing.T) {
	for _, joint := range []bool{true, false} {
		f := studentFile(t, joint)
		dir, again := filepath.Join(t.TempDir(), "new"), t.TempDir()
		if err := Write(dir, f); err != nil {
			t.Fatal(err)
		}
		rounded, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if rounded.Model.Config != f.Model.Config || len(rounded.Steps) == 0 || !reflect.DeepEqual(rounded.Shortlist, f.Shortlist) || rounded.Decoding != f.Decoding ||
			rounded.SrcLang != f.SrcLang || rounded.TgtLang != f.TgtLang {
			t.Errorf("found steps of %d parameters, %+v", len(rounded.Steps), rounded.Decoding)
		}
		for id := range 2 { // Pad and BOS, which Marian does not have
			clear(f.Model.SrcEmbed.E.Weights().Row(id))
			clear(f.Model.TgtEmbed.E.Weights().Row(id))
			f.Model.Output.Bias.W[id] = parts.MinusInf
		}
		for i, p := range rounded.Model.Params.List {
			steps := rounded.Steps[p.Name]
			if (steps != nil) != (len(p.Shape) == 2) {
				t.Errorf("%s: found %d steps", p.Name, len(steps))
			}
			for k, x := range p.W {
				step, want := float32(0), f.Model.Params.List[i].W[k]
				if steps != nil {
					j := k % p.Shape[1]
					if len(steps) == p.Shape[0] && strings.Contains(p.Name, "embed") {
						j = k / p.Shape[1]
					}
					step = steps[j]
				}
				if x != want && math.Abs(float64(x-want)) > 0.5001*float64(step) {
					t.Fatalf("%s: found %v for %v with step %v", p.Name, x, want, step)
				}
			}
		}
		if err := Write(again, rounded); err != nil {
			t.Fatal(err)
		}
		got, err := Read(again)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got.Model.Params.List { // steps can differ in the last bit
			for k, x := range p.W {
				if want := rounded.Model.Params.List[i].W[k]; math.Abs(float64(x-want)) > 1e-6*math.Abs(float64(want)) {
					t.Fatalf("%s: found %v, want %v", p.Name, x, want)
				}
			}
		}
	}
}

// Vocabularies are filled with pieces up to a multiple of 8, which no search selects.
func TestWriteMarianFillsVocabularies(t *testing.T) {
	f := parttest.RandomModelFile(t, true, studentConfig)
	dir := t.TempDir()
	if err := Write(dir, f); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	n, m := f.Model.Config.TgtVocab, got.Model.Config.TgtVocab
	if n%8 == 2 || m%8 != 2 { // Pad and BOS are not Marian's
		t.Fatalf("%d pieces for %d", m, n)
	}
	for id := n; id < m; id++ {
		if b := got.Model.Output.Bias.W[id]; b != -1e9 {
			t.Errorf("bias %v of piece %d", b, id)
		}
	}
}

// The halves of an SSRU's maps and its bias have the tensors of Marian's names.
func TestMarianSSRU(t *testing.T) {
	f := studentFile(t, true)
	byName := map[string]safetensors.Tensor{}
	for _, x := range tensorsOf(f.Model, []int32{2, 3}, []int32{2, 3}) {
		byName[x.Name] = x
	}
	l, d := f.Model.Decoder[1].SSRU, f.Model.Config.DModel
	get := func(name string, i int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(byName["decoder_l2_rnn_"+name].Data[4*i:]))
	}
	w := l.Maps.W.Weights()
	if get("W", 3*d+1) != w.At(3, 1) || get("Wf", 3*d+1) != w.At(3, d+1) || get("bf", 5) != l.GateBias.W[5] {
		t.Errorf("found %v, %v and %v", get("W", 3*d+1), get("Wf", 3*d+1), get("bf", 5))
	}
	for _, name := range []string{"decoder_l2_rnn_b", "decoder_l2_self_Wq"} {
		if _, found := byName[name]; found {
			t.Errorf("found %s", name)
		}
	}
	c := f.Model.Config
	for norm, want := range map[model.Placement]string{model.PostNorm: "rnn_ffn_ln_*", model.PreNorm: "rnn_ln_*_pre"} {
		if c.Norm = norm; namingOf(c).DecoderNorms[0] != want {
			t.Errorf("the norm of the SSRU is %s, want %s", namingOf(c).DecoderNorms[0], want)
		}
	}
}

// firefoxFolder writes f as a model of Firefox from English to German, each file compressed.
func firefoxFolder(t testing.TB, f model.File) string {
	t.Helper()
	from, dir := t.TempDir(), t.TempDir()
	if err := Write(from, f); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		binModelFile: "model.ende.intgemm.alphas.bin", shortlistFile: "lex.50.50.ende.s2t.bin",
		vocabFile: "vocab.ende.spm", srcVocabFile: "srcvocab.ende.spm", tgtVocabFile: "trgvocab.ende.spm",
	} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
		if err := os.WriteFile(filepath.Join(dir, to+".gz"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A folder of Firefox has its languages in the names of its files and the settings of Firefox.
func TestFirefoxFolder(t *testing.T) {
	for _, joint := range []bool{true, false} {
		f := studentFile(t, joint)
		dir := firefoxFolder(t, f)
		for _, path := range []string{dir, filepath.Join(dir, "model.ende.intgemm.alphas.bin.gz")} {
			got, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			v := parttest.TokenizersOf(t, got)
			if got.SrcLang != "en" || got.TgtLang != "de" || got.Decoding != f.Decoding || got.Steps == nil || !reflect.DeepEqual(got.Shortlist, f.Shortlist) || v.Joint() != joint {
				t.Errorf("found %q to %q, %+v, joint %t", got.SrcLang, got.TgtLang, got.Decoding, v.Joint())
			}
		}
		for name, text := range map[string]string{
			"metadata.json": `{"architecture": "tiny", "sourceLanguage": "zh_hant", "targetLanguage": "en"}`,
			"config.yml":    "bergamot-mode: wasm\nshortlist:\n  - lex.50.50.ende.s2t.bin\n  - false\nbeam-size: 2\nmax-length-factor: 1.5\nskip-cost: true\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Read(dir)
		if err != nil || got.SrcLang != "zh-Hant" || got.TgtLang != "en" || parttest.SettingsOf(t, got).Beam != 2 || parttest.SettingsOf(t, got).LengthFactor != 1.5 || parttest.SettingsOf(t, got).Alpha != 1 {
			t.Errorf("found %q to %q, %+v, %v", got.SrcLang, got.TgtLang, got.Decoding, err)
		}
		model := filepath.Join(dir, "model.ende.intgemm.alphas.bin.gz")
		os.Truncate(model, 1000)
		_, err = Read(dir)
		parttest.CheckError(t, "truncated", err, "model.ende.intgemm.alphas.bin.gz: unexpected EOF")
		var bomb bytes.Buffer
		z := gzip.NewWriter(&bomb)
		z.Write(make([]byte, 64<<20))
		z.Close()
		os.WriteFile(model, bomb.Bytes(), 0o666)
		_, err = Read(dir)
		parttest.CheckError(t, "bomb", err, "found more than")
		os.WriteFile(model, []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), 0o666)
		_, err = Read(dir)
		parttest.CheckError(t, "pointer", err, "found a pointer of Git LFS")
	}
}

// binOf returns the bytes of a small student in .bin, the offset of the numbers of each item, and
// that of the data of the first one, the embeddings.
func binOf(t testing.TB) (data []byte, items map[string]int, first int) {
	t.Helper()
	f := studentFile(t, true)
	src, err := newVocabulary(parttest.TokenizersOf(t, f).Source)
	if err != nil {
		t.Fatal(err)
	}
	data = encodeBin(tensorsOf(f.Model, src.ids, src.ids), settingsOf(f.Model.Config, len(src.ids), len(src.ids)))
	word := func(at int) int { return int(binary.LittleEndian.Uint64(data[at:])) }
	items = map[string]int{}
	n := word(8)
	at, shapes := 16+32*n, 0
	for i := range n {
		item := 16 + 32*i
		items[string(data[at:at+word(item)-1])] = item
		at, shapes = at+word(item), shapes+4*word(item+16)
	}
	at += shapes
	return data, items, at + 8 + word(at)
}

// memoryFolder is a folder with files in memory.
func memoryFolder(files map[string][]byte) parts.Folder {
	f := parts.Folder{Path: "dir", Files: map[string]func() ([]byte, error){}, Size: 1 << 20, Archived: true}
	for name, data := range files {
		f.Files[name] = func() ([]byte, error) { return data, nil }
	}
	return f
}

// Damaged and hostile files end with one line.
func TestBinRefuses(t *testing.T) {
	const wq, logits = "encoder_l1_self_Wq", "decoder_ff_logit_out_b"
	data, items, first := binOf(t)
	put := func(item string, field int, value uint64) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[items[item]+8*field:], value)
			return b
		}
	}
	names := bytes.Index(data, []byte("Wemb\x00"))
	factor := func(x float32) func([]byte) []byte {
		return func(b []byte) []byte {
			shape := bytes.Index(b, binary.LittleEndian.AppendUint32(nil, 64)) - 4 // [rows 64]
			rows := int(binary.LittleEndian.Uint32(b[shape:]))
			binary.LittleEndian.PutUint32(b[first+64*rows:], math.Float32bits(x))
			return b
		}
	}
	for want, change := range map[string]func([]byte) []byte{
		"version: found 4 bytes, expected 8":                                     func(b []byte) []byte { return b[:4] },
		"found version 7 of Marian's format, expected 1":                         func(b []byte) []byte { b[0] = 7; return b },
		"bytes for 1152921504606847053 items, expected 32 bytes each":            func(b []byte) []byte { b[15] = 16; return b },
		`name of item 0: found`:                                                  put("Wemb", 0, 1<<63),
		`found name "Wemb\x00d" of item 0, expected a NUL at its end only`:       put("Wemb", 0, 6),
		`found name "Wem\x00\x00" of item 0`:                                     func(b []byte) []byte { b[names+3] = 0; return b },
		`found name "" of item 0`:                                                put("Wemb", 0, 0),
		`found type intgemm16, which is not read: 'marian-conv`:                  put(wq, 1, 0x4102),
		`found type packed8avx512, which is not read`:                            put(wq, 1, 0x2801),
		`found type 0x9999, expected float32 or intgemm8`:                        put(wq, 1, 0x9999),
		`tensor "encoder_l1_self_Wq": found 999999 dimensions, expected at most`: put(wq, 2, 999999),
		`tensor "encoder_l1_self_Wq": found 4096 bytes, expected 4100`:           put(wq, 3, 4096),
		`item "special:model.yml": found`:                                        put("special:model.yml", 3, 1<<40),
		"bytes after the last item, expected none":                               func(b []byte) []byte { return append(b, 1) },
		`tensor "encoder_l1_self_Wk": found twice`:                               func(b []byte) []byte { return bytes.Replace(b, []byte(wq+"\x00"), []byte("encoder_l1_self_Wk\x00"), 1) },
		`tensor "special:model.yml": missing`:                                    func(b []byte) []byte { return bytes.Replace(b, []byte("special:"), []byte("Special:"), 1) },
		`tensor "Wemb": found factor 0 of its integers, expected a positive num`: factor(0),
		`tensor "Wemb": found factor NaN of its integers`:                        factor(float32(math.NaN())),
		`tensor "Wemb": found factor -3 of its integers`:                         factor(-3),
		`tensor "decoder_ff_logit_out_b": found 256 bytes, expected`:             put(logits, 3, 256),
	} {
		_, _, err := readBin(memoryFolder(map[string][]byte{"m.bin": change(slices.Clone(data))}), "m.bin")
		parttest.CheckError(t, want, err, want)
	}
	for n := range data { // every prefix
		if n%97 != 0 && n > 4000 {
			continue
		}
		if _, _, err := readBin(memoryFolder(map[string][]byte{"m.bin": data[:n]}), "m.bin"); err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%d bytes: error %v", n, err)
		}
	}
}

// lists returns a binary shortlist, first ids included.
func lists(first uint64, offsets []uint64, ids []uint32) []byte {
	var body []byte
	for _, n := range append([]uint64{first, 50, uint64(len(offsets)), uint64(len(ids))}, offsets...) {
		body = binary.LittleEndian.AppendUint64(body, n)
	}
	for _, id := range ids {
		body = binary.LittleEndian.AppendUint32(body, id)
	}
	file := binary.LittleEndian.AppendUint64(nil, binShortlist)
	return append(binary.LittleEndian.AppendUint64(file, binSum(body)), body...)
}

// Damaged and hostile shortlists end with one line.
func TestBinaryShortlist(t *testing.T) {
	good := lists(2, []uint64{0, 1, 1, 3}, []uint32{4, 0, 3})
	l, err := parseBinaryShortlist(good, 3, 5)
	if err != nil || fmt.Sprint(l) != "&{2 [[4] [] [0 3]]}" {
		t.Errorf("found %v, %v", l, err)
	}
	damaged := slices.Clone(good)
	damaged[len(damaged)-6]++
	for want, data := range map[string][]byte{
		"found 40 bytes, expected a header of 48":                    good[:40],
		"bytes for 4 offsets and 3 ids, expected 8 and 4 bytes each": good[:len(good)-1],
		"expected 0x": damaged,
		"found lists of 2 source pieces, expected 3 as in the vocabulary":    lists(2, []uint64{0, 1, 3}, []uint32{4, 0, 3}),
		"found id 5 at index 1, expected below 5, the target pieces":         lists(2, []uint64{0, 1, 1, 3}, []uint32{4, 5, 3}),
		"found offsets 3 and 1 of source piece 1, expected ascending":        lists(2, []uint64{0, 3, 1, 3}, []uint32{4, 0, 3}),
		"found offsets 1 and 9223372036854775808 of source piece 2":          lists(2, []uint64{0, 1, 1, 1 << 63}, []uint32{4, 0, 3}),
		"found offsets 1 and 2 of source piece 0, expected ascending offset": lists(2, []uint64{1, 2, 2, 3}, []uint32{4, 0, 3}),
	} {
		_, err := parseBinaryShortlist(data, 3, 5)
		parttest.CheckError(t, want, err, want)
	}
	huge := slices.Clone(good)
	binary.LittleEndian.PutUint64(huge[32:], 1<<61)
	binary.LittleEndian.PutUint64(huge[40:], 1<<62)
	_, err = parseBinaryShortlist(huge, 3, 5)
	parttest.CheckError(t, "overflow", err, "expected 8 and 4 bytes each")
	if l, err := parseBinaryShortlist(lists(1<<63, []uint64{0, 0, 0, 0}, nil), 3, 5); err != nil || l.first != 5 {
		t.Errorf("found %v, %v, want at most all rows first", l, err)
	}
}

// FuzzReadBin reads models in .bin.
func FuzzReadBin(f *testing.F) {
	data, _, _ := binOf(f)
	f.Add(data)
	student := studentFile(f, true)
	dir := f.TempDir()
	if err := Write(dir, student); err != nil {
		f.Fatal(err)
	}
	spm, err := os.ReadFile(filepath.Join(dir, vocabFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := read(memoryFolder(map[string][]byte{"model.bin": data, vocabFile: spm}), "model.bin")
		parttest.CheckFuzzed(t, file, err)
	})
}

// FuzzBinaryShortlist reads binary shortlists, whose checksum it makes right.
func FuzzBinaryShortlist(f *testing.F) {
	f.Add(lists(2, []uint64{0, 1, 1, 3}, []uint32{4, 0, 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 16 {
			binary.LittleEndian.PutUint64(data[8:], binSum(data[16:]))
		}
		l, err := parseBinaryShortlist(data, 3, 5)
		if err != nil {
			return
		}
		for _, list := range l.lists {
			for _, row := range list {
				if row >= 5 {
					t.Fatalf("found %v", l)
				}
			}
		}
	})
}
