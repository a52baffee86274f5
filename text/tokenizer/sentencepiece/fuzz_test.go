package sentencepiece

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// abModel is a model of the pieces a, b, ab, ba and aba.
func abModel(modelType ModelType) *Model {
	m := NewModel()
	m.Trainer.ModelType = modelType
	m.Normalizer.AddDummyPrefix = false
	m.Pieces = []Piece{
		{Text: "<unk>", Type: Unknown},
		{Text: "a", Score: -2, Type: Normal},
		{Text: "b", Score: -3, Type: Normal},
		{Text: "ab", Score: -2.5, Type: Normal},
		{Text: "ba", Score: -4, Type: Normal},
		{Text: "aba", Score: -6, Type: Normal},
	}
	return m
}

// FuzzUnmarshal decodes files. What it accepts is encoded to the same bytes and has the properties
// of a tokenizer.
func FuzzUnmarshal(f *testing.F) {
	for _, mt := range []ModelType{Unigram, BPE, Word, Char} {
		m := testModel()
		m.Trainer.ModelType = mt
		f.Add(marshal(f, m), "ab aba\xff  é")
		m.Normalizer.PrecompiledCharsmap = testCharsmap()
		m.Trainer.WhitespaceAsSuffix = true
		f.Add(marshal(f, m), "abc éb ")
		m = abModel(mt)
		f.Add(marshal(f, m), "▁ab▁a")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 8 {
		f.Add(marshal(f, randomModel(r, ModelType(1+k%4))), "a中▁bé c")
	}
	f.Fuzz(func(t *testing.T, data []byte, s string) {
		m, err := UnmarshalModel(data)
		if err != nil {
			return
		}
		again, err := UnmarshalModel(marshal(t, m))
		if err != nil || len(again.Pieces) != len(m.Pieces) {
			t.Fatalf("encoded again: %v", err)
		}
		tokenizer, err := Unmarshal(data)
		if err != nil {
			return
		}
		if got, err := tokenizer.MarshalBinary(); err != nil || string(got) != string(data) {
			t.Fatalf("MarshalBinary returns %d other bytes, error %v", len(got), err)
		}
		checkTokenizer(t, tokenizer, s)
		for id, ids := range tokenizer.Remap(tokenizer) {
			for _, old := range ids {
				if old < 0 || int(old) >= tokenizer.Size() {
					t.Fatalf("Remap maps %d to %d", id, ids)
				}
			}
		}
	})
}

// Unmarshal allocates at most 2 MB, for the cache, plus 200 bytes for each byte of data.
func TestUnmarshalMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("race detector: it allocates")
	}
	short := abModel(BPE)
	for a := range 26 {
		for b := range 26 * 26 {
			short.Pieces = append(short.Pieces, Piece{Text: string([]byte{'c' + byte(a), byte('A' + b/26), byte('A' + b%26)}), Type: Normal})
		}
	}
	long := abModel(Unigram)
	for k := range 300 {
		long.Pieces = append(long.Pieces, Piece{Text: string(rune('A'+k)) + strings.Repeat("x", 2000), Type: Normal})
	}
	longBPE := abModel(BPE)
	for k := range 100 {
		longBPE.Pieces = append(longBPE.Pieces, Piece{Text: strings.Repeat("é", k+1), Type: Normal})
	}
	big := abModel(Unigram)
	big.Normalizer.PrecompiledCharsmap = append(append([]byte{0, 0, 16, 0}, make([]byte, 1<<20)...), 0)
	files := map[string][]byte{
		"short pieces":    marshal(t, short),
		"long pieces":     marshal(t, long),
		"long BPE pieces": marshal(t, longBPE),
		"character map":   marshal(t, big),
		"empty pieces":    []byte(strings.Repeat("\x0a\x00", 1<<18)),
		"one length":      []byte("\x0a\xff\xff\xff\xff\x7f"),
		"unknown fields":  []byte(strings.Repeat("\xf8\x01\x00", 1<<18)),
		"empty specs":     []byte(strings.Repeat("\x12\x00", 1<<18)),
		"strings":         []byte("\x12\x80\x80\x20" + strings.Repeat("\x0a\x00", 1<<18)),
	}
	for name, data := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Unmarshal(data)
		runtime.ReadMemStats(&after)
		if used, limit := after.TotalAlloc-before.TotalAlloc, uint64(2<<20+200*len(data)); used > limit {
			t.Errorf("%s: allocated %d bytes for %d, want at most %d", name, used, len(data), limit)
		}
	}
}
