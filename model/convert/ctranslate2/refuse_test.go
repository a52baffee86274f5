package ctranslate2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/text/tokenizer/vocab"
)

// smallModel returns the content of a folder of CTranslate2.
func smallModel(t testing.TB) (*modelFile, map[string][]byte) {
	t.Helper()
	var tokens []string
	for i := range 12 {
		tokens = append(tokens, fmt.Sprint("w", i))
	}
	v, err := parts.NewVocabulary("", append([]string{"<pad>", "<s>", "</s>", "<unk>"}, tokens...))
	if err != nil {
		t.Fatal(err)
	}
	v.Pad, v.BOS, v.EOS, v.Unknown = 0, 1, 2, 3
	s, err := v.Words()
	if err != nil {
		t.Fatal(err)
	}
	c := model.Config{DModel: 8, Heads: 2, DFF: 12, EncoderLayers: 1, DecoderLayers: 1, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 32}
	c.SrcVocab, c.TgtVocab = s.Tokenizer.Size(), s.Tokenizer.Size()
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(1)
	files, err := vocab.Tokenizers{Source: s.Tokenizer, Target: s.Tokenizer}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	b, content, err := encode(model.File{Model: m, Tokenizers: files})
	if err != nil {
		t.Fatal(err)
	}
	return b, content.Data
}

// inMemory returns a folder of the given files.
func inMemory(files map[string][]byte) parts.Folder {
	f := parts.Folder{Path: "dir", Files: map[string]func() ([]byte, error){}}
	for name, data := range files {
		f.Files[name] = func() ([]byte, error) { return bytes.Clone(data), nil }
		f.Size += int64(len(data))
	}
	return f
}

// encodeModelFile returns a model.bin.
func encodeModelFile(t testing.TB, b *modelFile) []byte {
	t.Helper()
	var w bytes.Buffer
	if err := b.write(&w); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// What a model.Config does not have stops the import by name, as do files that contradict
// themselves.
func TestReadCTranslate2Refuses(t *testing.T) {
	scalar := func(x byte) variable { return variable{"int8", nil, []byte{x}} }
	float := func(shape ...int) variable {
		n, _ := parts.Count(shape)
		return variable{"float32", shape, make([]byte, 4*n)}
	}
	set := func(name string, v variable) func(*modelFile, map[string][]byte) {
		return func(b *modelFile, _ map[string][]byte) {
			if _, ok := b.vars[name]; !ok {
				b.order = append(b.order, name)
			}
			b.vars[name] = v
		}
	}
	file := func(name, data string) func(*modelFile, map[string][]byte) {
		return func(_ *modelFile, files map[string][]byte) { files[name] = []byte(data) }
	}
	remove := func(name string) func(*modelFile, map[string][]byte) {
		return func(b *modelFile, files map[string][]byte) {
			delete(files, name)
			delete(b.vars, name)
			b.order = slices.DeleteFunc(b.order, func(s string) bool { return s == name })
		}
	}
	const self = "encoder/layer_0/self_attention/"
	for want, change := range map[string]func(*modelFile, map[string][]byte){
		`does not have: "` + self + `relative_position_keys"`:             set(self+"relative_position_keys", float(3, 4)),
		`does not have: "` + self + `relative_attention_bias"`:            set(self+"relative_attention_bias", float(3, 4)),
		`does not have: "` + self + `rotary_dim"`:                         set(self+"rotary_dim", scalar(4)),
		`does not have: "` + self + `q_norm/gamma"`:                       set(self+"q_norm/gamma", float(4)),
		self + `multi_query": found 1, which this program does not have`:  set(self+"multi_query", scalar(1)),
		self + `num_heads_kv": found 1, which`:                            set(self+"num_heads_kv", scalar(1)),
		self + `sliding_window": found 9, which`:                          set(self+"sliding_window", scalar(9)),
		`queries_scale": found 1 for heads of 4, not its reciprocal root`: set(self+"queries_scale", scalar(1)),
		`head_dim": found heads of several sizes`:                         set("decoder/layer_0/attention/head_dim", scalar(5)),
		`does not have: "decoder/layer_0/ffn/linear_0_noact/weight"`:      set("decoder/layer_0/ffn/linear_0_noact/weight", float(12, 8)),
		`does not have: "encoder/layernorm_embedding/gamma"`:              set("encoder/layernorm_embedding/gamma", float(8)),
		`decoder/layer_0/layer_scalar": found 2, which`:                   set("decoder/layer_0/layer_scalar", scalar(2)),
		`found activation GELU by the sigmoid`: func(b *modelFile, _ map[string][]byte) {
			b.vars["encoder/activation"], b.vars["decoder/activation"] = scalar(4), scalar(4)
		},
		`tensor "encoder/activation": found 3, expected 0 as in decoder/activation`:         set("encoder/activation", scalar(3)),
		`tensor "encoder/num_heads": found 4, expected 2 as in decoder/num_heads`:           set("encoder/num_heads", scalar(4)),
		`tensor "decoder/alibi": found 1`:                                                   set("decoder/alibi", scalar(1)),
		`decoder/scale_outputs": found 3, which`:                                            set("decoder/scale_outputs", scalar(3)),
		`embeddings times 2.8284271247461903 in the encoder and 1 in the decoder`:           set("decoder/scale_embeddings", scalar(0)),
		`embeddings times 5 in the encoder`:                                                 set("encoder/scale_embeddings", variable{"int16", nil, []byte{5, 0}}),
		`found encoder/layer_norm true and decoder/layer_norm false`:                        set("encoder/layer_norm/gamma", float(8)),
		self + `layer_norm/layer_norm_use_residual": found 1, which`:                        set(self+"layer_norm/layer_norm_use_residual", scalar(1)),
		`does not have: "encoder/something" float32 [2]`:                                    set("encoder/something", float(2)),
		`does not have: "decoder/project_in/weight" float32 [8 8]`:                          set("decoder/project_in/weight", float(8, 8)),
		`tensor "encoder/layer_0/ffn/linear_1/weight": found shape [8 11], expected [8 12]`: set("encoder/layer_0/ffn/linear_1/weight", float(8, 11)),
		`tensor "encoder/layer_0/ffn/linear_1/weight": missing, expected shape [8 12]`:      remove("encoder/layer_0/ffn/linear_1/weight"),
		`alias of "decoder/embeddings/weight", which is missing`:                            remove("decoder/embeddings/weight"),
		`found int8 without a tensor of its scales`:                                         set("encoder/layer_0/ffn/linear_1/weight", variable{"int8", []int{8, 12}, make([]byte, 96)}),
		`found 32 rows, expected 16 as in the decoder, with a shared vocabulary`: func(b *modelFile, f map[string][]byte) {
			b.aliases = slices.DeleteFunc(b.aliases, func(a [2]string) bool { return strings.Contains(a[0], "encoder/embeddings") })
			set("encoder/embeddings_0/weight", float(32, 8))(b, f)
		},
		`shared_vocabulary.json: found 5 tokens, expected 16, the rows of the embeddings`:           file("shared_vocabulary.json", `["a","b","</s>","<s>"]`),
		`shared_vocabulary.json: unexpected end of JSON input`:                                      file("shared_vocabulary.json", `["a"`),
		`found "a" as tokens 0 and 1, expected distinct tokens`:                                     file("shared_vocabulary.json", `["a"`+strings.Repeat(`,"a"`, 14)+`,"<unk>"]`),
		`found none of ["source_vocabulary.json" "source_vocabulary.txt"]`:                          remove("shared_vocabulary.json"),
		`config.json: unexpected end of JSON input`:                                                 file("config.json", `{`),
		`config.json: file does not exist`:                                                          remove("config.json"),
		`found no decoder_start_token, expected one: translations of this model begin with a token`: file("config.json", `{"decoder_start_token": null}`),
		`found multi_query_attention, which`:                                                        file("config.json", `{"decoder_start_token": "<s>", "multi_query_attention": true}`),
		`found quantization_type awq_gemm`:                                                          file("config.json", `{"decoder_start_token": "<s>", "quantization_type": "awq_gemm"}`),
		`found a model of "WhisperSpec", expected TransformerSpec`:                                  func(b *modelFile, _ map[string][]byte) { b.spec = "WhisperSpec" },
		`found revision 8 of TransformerSpec, expected up to 7`:                                     func(b *modelFile, _ map[string][]byte) { b.revision = 8 },
		`tensor "x": alias of "y", which is missing`:                                                func(b *modelFile, _ map[string][]byte) { b.aliases = append(b.aliases, [2]string{"x", "y"}) },
		`tensor "decoder/embeddings/weight": found twice`:                                           func(b *modelFile, _ map[string][]byte) { b.order = append(b.order, "decoder/embeddings/weight") },
		`tensor "encoder/num_heads": found twice`: func(b *modelFile, _ map[string][]byte) {
			b.aliases = append(b.aliases, [2]string{"encoder/num_heads", "decoder/num_heads"})
		},
		`found 5 positions, expected 32 as in the decoder`: func(b *modelFile, f map[string][]byte) {
			b.aliases = slices.DeleteFunc(b.aliases, func(a [2]string) bool { return strings.Contains(a[0], "position") })
			set("encoder/position_encodings/encodings", float(5, 8))(b, f)
		},
		`expected the tokenizer of SentencePiece beside them`:   remove("sentencepiece.model"),
		`found one of source.spm and target.spm, expected both`: func(_ *modelFile, f map[string][]byte) { delete(f, "sentencepiece.model"); f["source.spm"] = nil },
		`sentencepiece.model: `:                                 file("sentencepiece.model", "\x0a\x03"),
	} {
		b, files := smallModel(t)
		change(b, files)
		files[ModelFile] = encodeModelFile(t, b)
		f := inMemory(files)
		_, err := ReadPackage(f, f, nil)
		parttest.CheckError(t, want, err, want)
		if err != nil && (strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "dir")) {
			t.Errorf("%s: error %q, want one line that begins with a path", want, err)
		}
	}
}

// Sources of a MarianMTModel that CTranslate2 converted end with EOS, which its settings leave to
// the tokenizer of transformers.
func TestReadCTranslate2OfTransformers(t *testing.T) {
	for zero, want := range map[byte]model.SourceLayout{0: model.NoMarks, 1: model.EOSLast} {
		b, files := smallModel(t)
		b.vars["decoder/start_from_zero_embedding"] = variable{"int8", nil, []byte{zero}}
		files[ConfigFile] = []byte(`{"decoder_start_token": "</s>", "add_source_eos": false}`)
		files[ModelFile] = encodeModelFile(t, b)
		f, err := ReadPackage(inMemory(files), inMemory(files), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Model.Config.Source; got != want {
			t.Errorf("zero embedding %d: marks of sources %q, want %q", zero, got, want)
		}
	}
}

// Every beginning of a model.bin, every version, and sizes that overflow are errors.
func TestParseCT2BinaryRefuses(t *testing.T) {
	b, _ := smallModel(t)
	data := encodeModelFile(t, b)
	if _, err := parseModelFile(data); err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		if _, err := parseModelFile(data[:n]); err == nil {
			t.Fatalf("found no error for the first %d of %d bytes", n, len(data))
		}
	}
	u32 := binary.LittleEndian.AppendUint32
	header := func(version uint32) []byte {
		h := u32(nil, version)
		if version >= 2 {
			h = u32(append(h, "\x10\x00TransformerSpec\x00"...), 7)
		}
		return u32(h, 1)
	}
	named := func(version uint32, rest ...byte) []byte {
		return append(append(header(version), "\x02\x00a\x00"...), rest...)
	}
	sizes := func(rank byte, dims ...uint32) []byte {
		x := []byte{rank}
		for _, d := range dims {
			x = u32(x, d)
		}
		return x
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"version 0", u32(nil, 0), "found binary version 0, expected 1 to 6"},
		{"version 7", u32(nil, 7), "found binary version 7, expected 1 to 6"},
		{"string without a zero", u32(append(u32(nil, 6), "\x02\x00ab"...), 7), `expected a string that ends with a zero byte`},
		{"string with a zero", u32(append(u32(nil, 6), "\x03\x00\x00b\x00"...), 7), `expected a string that ends with a zero byte`},
		{"empty string", u32(append(u32(nil, 6), 0, 0), 7), `expected a string that ends with a zero byte`},
		{"dtype", named(6, append(sizes(0), 9, 0, 0, 0, 0)...), `tensor "a": found dtype 9, expected 0 to 5`},
		{"width", named(3, append(sizes(0), 3, 0, 0, 0, 0)...), `tensor "a": found elements of 3 bytes, expected 1, 2 or 4`},
		{"overflow", named(6, append(sizes(4, 1<<31, 1<<31, 1<<31, 1<<31), 0, 0, 0, 0, 0)...), `found 0 bytes of float32, expected those of shape [2147483648 2147483648 2147483648 2147483648]`},
		{"wrap to 0", named(6, append(sizes(2, 1<<31, 1<<31), 0, 0, 0, 0, 0)...), `expected those of shape [2147483648 2147483648]`},
		{"payload", named(6, append(sizes(1, 3), 0, 8, 0, 0, 0)...), `found 8 bytes of float32, expected those of shape [3]`},
		{"beyond the end", named(6, append(sizes(1, 1<<28), 1, 0, 0, 0, 0x10)...), `found 0 bytes at offset`},
		{"elements of version 3", named(3, append(sizes(1, 1<<30), 4, 0, 0, 0, 0x40)...), `found 0 bytes at offset`},
		{"many variables", u32(header(6)[:len(header(6))-4], 1<<31), `found 0 bytes at offset`},
		{"rest", append(encodeModelFile(t, b), 1), "found 1 bytes after the last field"},
	} {
		_, err := parseModelFile(c.data)
		parttest.CheckError(t, c.name, err, c.want)
	}
}

// fuzzFolder reads a folder, whose model has a size in proportion.
func fuzzFolder(t *testing.T, f parts.Folder) {
	file, err := ReadPackage(f, f, nil)
	if parttest.CheckFuzzed(t, file, err); err != nil {
		return
	}
	if n := 4 * int64(len(file.Model.Params.W)); n > parts.MaxGrowth*f.Size+parts.MinMemory {
		t.Fatalf("found %d bytes of weights from %d", n, f.Size)
	}
}

// Any model.bin beside any configuration, vocabulary and SentencePiece model is read or refused.
func FuzzReadCTranslate2(f *testing.F) {
	dirs, err := filepath.Glob("../testdata/ctranslate2-*")
	if err != nil {
		f.Fatal(err)
	}
	for _, dir := range dirs {
		files := map[string][]byte{}
		for _, name := range []string{ModelFile, ConfigFile, "shared_vocabulary.json", "shared_vocabulary.txt", "sentencepiece.model"} {
			files[name], _ = os.ReadFile(filepath.Join(dir, name)) // nil without it
		}
		tokens := slices.Concat(files["shared_vocabulary.json"], files["shared_vocabulary.txt"])
		f.Add(files[ModelFile], files[ConfigFile], tokens, files["sentencepiece.model"])
	}
	b, files := smallModel(f)
	f.Add(encodeModelFile(f, b), files[ConfigFile], files["shared_vocabulary.json"], files["sentencepiece.model"])
	f.Fuzz(func(t *testing.T, bin, config, tokens, spm []byte) {
		files := map[string][]byte{ModelFile: bin, "shared_vocabulary.json": tokens, "source_vocabulary.txt": tokens, "target_vocabulary.txt": tokens}
		if !bytes.HasPrefix(tokens, []byte("[")) {
			delete(files, "shared_vocabulary.json")
			files["shared_vocabulary.txt"] = tokens
		}
		if len(config) > 0 {
			files[ConfigFile] = config
		}
		if len(spm) > 0 {
			files["sentencepiece.model"] = spm
		}
		fuzzFolder(t, inMemory(files))
		delete(files, "shared_vocabulary.json")
		delete(files, "shared_vocabulary.txt")
		fuzzFolder(t, inMemory(files))
	})
}
