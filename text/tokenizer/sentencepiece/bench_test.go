package sentencepiece

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/text"
)

// benchText returns the lines of SENTENCEPIECE_TEXT, a file, or testdata/text.txt.
func benchText(b *testing.B) []string {
	name := os.Getenv("SENTENCEPIECE_TEXT")
	if name == "" {
		name = "testdata/text.txt"
	}
	return strings.Split(strings.TrimSuffix(string(readFile(b, name)), "\n"), "\n")
}

// BenchmarkEncode encodes lines: with the words of an earlier reading in the cache, with an empty
// cache, and without a cache. SENTENCEPIECE_TEXT and SENTENCEPIECE_MODELS, a file and a pattern of
// .model files, replace the goldens. testdata/encode.py compares with the sentencepiece package.
func BenchmarkEncode(b *testing.B) {
	pattern := os.Getenv("SENTENCEPIECE_MODELS")
	if pattern == "" {
		pattern = "testdata/*.model.gz"
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		b.Fatalf("%s: no files, error %v", pattern, err)
	}
	lines := benchText(b)
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		tokenizer, err := Unmarshal(readFile(b, file))
		if err != nil {
			b.Fatal(err)
		}
		uncached, err := Unmarshal(readFile(b, file))
		if err != nil {
			b.Fatal(err)
		}
		uncached.cache = nil
		fresh := tokenizer
		for _, bench := range []struct {
			name   string
			encode func(ids []int32, ranges []text.Range, s string) ([]int32, []text.Range)
		}{
			{"cached", func(ids []int32, _ []text.Range, s string) ([]int32, []text.Range) {
				return tokenizer.Encode(ids, s), nil
			}},
			{"empty", func(ids []int32, _ []text.Range, s string) ([]int32, []text.Range) {
				return fresh.Encode(ids, s), nil
			}},
			{"uncached", func(ids []int32, _ []text.Range, s string) ([]int32, []text.Range) {
				return uncached.Encode(ids, s), nil
			}},
			{"ranges", tokenizer.EncodeRanges},
		} {
			b.Run("model="+name+"/mode="+bench.name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				var ids []int32
				var ranges []text.Range
				for b.Loop() {
					if bench.name == "empty" {
						b.StopTimer()
						if fresh, err = New(tokenizer.Model()); err != nil {
							b.Fatal(err)
						}
						b.StartTimer()
					}
					for _, l := range lines {
						ids, ranges = bench.encode(ids[:0], ranges[:0], l)
					}
				}
				b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "lines/s")
			})
		}
	}
}
