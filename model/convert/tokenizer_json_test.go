package convert

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/model/convert/internal/parts"
	"tfm/model/convert/internal/parttest"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
)

// hostileTexts are texts that tokenizers disagree about.
func hostileTexts() []string {
	texts := []string{
		"", " ", "  ", "\t", " \t ", "a", " a", "  a", "a ", "a  ", " a  b ", "a\tb", "a \u0085 b", "\u00A0 \u3000", "\u2028\u2029", "\r\n", "\x00", "a\x00b",
		"</s>", "<s> a </s>", "<pad>", "a</s>b", "<unk>", "Ġ", "ĠĊ", "Ã©", "\uFFFD", "\uFEFFa", "\u200B", "\u200C", "\u200Da", "a\u200Db", "!\u200D!", " \u200D",
		"e\u0301", "\u0301", " \u0301", "1\u0301", "12345", " 1 2", "١٢٣", "１２", "ﬁ", "İstanbul", "ß", "日本語 テキスト。", "สวัสดี ชาวโลก",
		"👩\u200D👩\u200D👧", "🏳\uFE0F\u200D🌈", "a\uFE0F", "\U000E0001", "\U0010FFFF", "\U000F0000", "\uE000", "'s 'll don't", "a.b,c;d", "((()))", "--- ---",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("ab", 200), strings.Repeat("!", 130), " " + strings.Repeat("?", 129),
		strings.Repeat(" ", 64), strings.Repeat(" ", 65), strings.Repeat(" ", 64) + "a", strings.Repeat(" ", 65) + "a", strings.Repeat("\t", 64) + " a",
		strings.Repeat("\u0301", 70), "a" + strings.Repeat("\u200D", 70), strings.Repeat("😀", 100), "\\x41 [a-z] (?i)", "\u1680x", "\u180Ex", "\v\f",
	}
	var ranges []rune // of one class or on the border of two
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) && (r < 0x3100 || r%0x40 < 2) {
			ranges = append(ranges, r)
		}
	}
	// Each character after a letter and a space, in lines of 50.
	for chunk := range slices.Chunk(ranges, 50) {
		texts = append(texts, string(chunk), "a "+strings.Join(strings.Split(string(chunk), ""), "a "))
	}
	r := rand.New(rand.NewPCG(1, 2))
	frequent := []rune(" \t \u00A0aeB12!?.\u0301\u200Dß日\u3000😀")
	for range 2000 {
		var s []rune
		for range r.IntN(100) {
			if r.IntN(8) == 0 {
				s = append(s, ranges[r.IntN(len(ranges))])
			} else {
				s = append(s, frequent[r.IntN(len(frequent))])
			}
		}
		texts = append(texts, string(s))
	}
	return texts
}

const encodeProgram = `
import json, sys
from transformers import AutoTokenizer
texts = json.load(sys.stdin)
t = AutoTokenizer.from_pretrained(sys.argv[1])
ids = [t(s).input_ids for s in texts]
json.dump({"ids": ids, "decoded": t.batch_decode(ids, skip_special_tokens=True), "decoded_one": [t.decode(i, skip_special_tokens=True) for i in ids[:100]],
    "special": [t.pad_token_id, t.bos_token_id, t.eos_token_id], "size": len(t)}, sys.stdout)
`

// Hugging Face's tokenizers, loaded from the files by transformers, have the ids and texts of
// Encode and Decode.
func TestTokenizerJSON(t *testing.T) {
	python := pythonWith(t, "transformers", "tokenizers")
	texts := hostileTexts()
	lines := texts
	size := 700
	t.Run("hostile", func(t *testing.T) { compareTokenizerJSON(t, python, trainBPE(t, size, lines), texts) })
	t.Run("no merges", func(t *testing.T) { compareTokenizerJSON(t, python, mergesOf(t), texts[:20]) })
	t.Run("multi30k", func(t *testing.T) {
		var lines []string
		for _, name := range []string{"train.en", "train.de", "val.en", "val.de", "test_2016_flickr.en", "test_2016_flickr.de"} {
			lines = append(lines, parttest.ReadLines(t, parttest.DataFile(t, "multi30k/raw/"+name+".gz"))...)
		}
		compareTokenizerJSON(t, python, trainBPE(t, 8000, lines), slices.Concat(lines, texts))
	})
}

func compareTokenizerJSON(t *testing.T, python string, tokenizer *bpe.Tokenizer, texts []string) {
	t.Helper()
	dir := t.TempDir()
	names, err := parts.NamesOf(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	files := parts.FileSet{Data: map[string][]byte{"config.json": []byte(`{"model_type": "marian"}`)}}
	files.AddJSON(parts.TokenizerFile, parts.TokenizerJSON(tokenizer, names.Names))
	files.AddJSON(parts.TokenizerConfigFile, parts.TokenizerConfigJSON(names.Names, 1024))
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	var got struct {
		IDs        [][]int32
		Decoded    []string
		DecodedOne []string `json:"decoded_one"`
		Special    []int32
		Size       int
	}
	runPython(t, python, encodeProgram, texts, &got, dir)
	if want := []int32{text.Pad, text.BOS, text.EOS}; !slices.Equal(got.Special, want) || got.Size != tokenizer.Size() {
		t.Errorf("special ids are %v and the size is %d, want %v and %d", got.Special, got.Size, want, tokenizer.Size())
	}
	differ := 0
	for i, s := range texts {
		want := append(tokenizer.Encode(nil, s), text.EOS)
		if !slices.Equal(got.IDs[i], want) || got.Decoded[i] != s || i < len(got.DecodedOne) && got.DecodedOne[i] != s {
			if differ++; differ < 10 {
				t.Errorf("%q: ids %v, want %v; decoded %q", s, got.IDs[i], want, got.Decoded[i])
			}
		}
	}
	t.Logf("%d of %d texts differ", differ, len(texts))
}

// mergesOf returns the tokenizer with these merges of pieces, given by their ids.
func mergesOf(t *testing.T, merges ...[2]int) *bpe.Tokenizer {
	t.Helper()
	data := binary.AppendUvarint([]byte(bpe.Magic+"\x01"), uint64(len(merges)))
	for _, m := range merges {
		data = binary.AppendUvarint(binary.AppendUvarint(data, uint64(m[0])), uint64(m[1]))
	}
	tokenizer, err := bpe.Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// The file has valid JSON, names of all ids, and special pieces with names of their own.
func TestTokenizerJSONNames(t *testing.T) {
	tokenizer := mergesOf(t, [2]int{specials + '<', specials + '/'}, [2]int{specials + 's', specials + '>'}, [2]int{bpe.MinSize, bpe.MinSize + 1})
	names, err := parts.NamesOf(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(parts.TokenizerJSON(tokenizer, names.Names))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Model struct {
			Vocab  map[string]int32
			Merges [][2]string
		}
		AddedTokens []struct {
			ID      int32
			Content string
		} `json:"added_tokens"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Model.Vocab) != tokenizer.Size() || len(file.Model.Merges) != 3 || len(file.AddedTokens) != 3 {
		t.Errorf("found %d pieces, %d merges and %d special pieces, want %d, 3 and 3", len(file.Model.Vocab), len(file.Model.Merges), len(file.AddedTokens), tokenizer.Size())
	}
	for _, want := range []struct {
		name string
		id   int32
	}{
		{"<pad>", text.Pad}, {"<s>", text.BOS}, {"</s>▁", text.EOS}, {"</s>", bpe.MinSize + 2},
		{"Ġ", specials + ' '}, {"a", specials + 'a'}, {"Ã", specials + 0xC3},
	} {
		if id, ok := file.Model.Vocab[want.name]; !ok || id != want.id {
			t.Errorf("id of %s is %d, %v, want %d", want.name, id, ok, want.id)
		}
	}
}

// A tokenizer whose merges make the same bytes twice has no form for other systems.
func TestTokenizerJSONDuplicate(t *testing.T) {
	const a = specials + 'a'
	tokenizer := mergesOf(t, [2]int{a, a}, [2]int{bpe.MinSize, a}, [2]int{a, bpe.MinSize})
	if _, err := parts.NamesOf(tokenizer); err == nil || !strings.Contains(err.Error(), `pieces 260 and 261 are both "aaa"`) {
		t.Errorf("error %v, want one that names the pieces", err)
	}
}

// specials is the number of ids of a byte-level BPE before its bytes.
const specials = bpe.MinSize - 256
