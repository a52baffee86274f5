package bpe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
	"tfm/text"
	"tfm/text/tokenizer/internal/merges"
)

func train(t testing.TB, size int, lines ...string) *Tokenizer {
	t.Helper()
	var tr Trainer
	for _, l := range lines {
		tr.Add(l)
	}
	b, err := tr.Train(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// slowMerges learns merges as the paper's algorithm 1 does: it counts all pairs, merges the most
// frequent one everywhere, and starts over.
func slowMerges(n int, lines []string) []pair {
	counts := map[string]int{}
	for _, l := range lines {
		for _, w := range split(" " + l) {
			counts[w]++
		}
	}
	words := map[string][]int32{}
	for w := range counts {
		for _, c := range []byte(w) {
			words[w] = append(words[w], firstByte+int32(c))
		}
	}
	var merges []pair
	for len(merges) < n {
		pairs := map[pair]int{}
		for w, ids := range words {
			for i := range ids[1:] {
				pairs[pair{ids[i], ids[i+1]}] += counts[w]
			}
		}
		var best pair
		for p, n := range pairs {
			if m := pairs[best]; n > m || n == m && (p.left < best.left || p.left == best.left && p.right < best.right) {
				best = p
			}
		}
		if pairs[best] < 2 {
			break
		}
		for w, ids := range words {
			words[w] = slowMerge(ids, best, int32(firstMerge+len(merges)))
		}
		merges = append(merges, best)
	}
	return merges
}

// slowMerge replaces the occurrences of p in ids by id, from left to right.
func slowMerge(ids []int32, p pair, id int32) []int32 {
	var out []int32
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == p.left && ids[i+1] == p.right {
			out = append(out, id)
			i++
		} else {
			out = append(out, ids[i])
		}
	}
	return out
}

// slowEncode applies one merge after another.
func slowEncode(b *Tokenizer, s string) []int32 {
	var out []int32
	for _, w := range split(" " + s) {
		var ids []int32
		for _, c := range []byte(w) {
			ids = append(ids, firstByte+int32(c))
		}
		for k, m := range b.merges {
			ids = slowMerge(ids, m, int32(firstMerge+k))
		}
		out = append(out, ids...)
	}
	return out
}

func TestTrainEqualsOracle(t *testing.T) {
	for name, lines := range map[string][]string{
		"generated":   texttest.Lines(60),
		"repetitions": {"aaaa aaa aa a aaaaaaa", "abababab babab", "aabbaabb bbaabbaa", "...... ,,,, !!!"},
		"ties":        {"ab cd ef gh", "ab cd ef gh", "ba dc fe hg", "ba dc fe hg"},
		"no spaces":   {"我喜欢猫我喜欢狗", "他喜欢猫他喜欢我", "我我我我我"},
		"bytes":       {"\xff\xfe\xff\xfe", "\x00\x00\x00\x00 \xff\xfe"},
	} {
		b := train(t, firstMerge+300, lines...)
		if want := slowMerges(300, lines); !slices.Equal(b.merges, want) {
			t.Errorf("%s: the %d merges differ from the oracle's %d", name, len(b.merges), len(want))
		}
	}
}

func TestTrainSize(t *testing.T) {
	if _, err := new(Trainer).Train(MinSize - 1); err == nil {
		t.Errorf("Train(%d): no error", MinSize-1)
	}
	if b := train(t, firstMerge); b.Size() != firstMerge {
		t.Errorf("size %d, want %d", b.Size(), firstMerge)
	}
	if b := train(t, 1000, texttest.Lines(500)...); b.Size() != 1000 {
		t.Errorf("size %d, want 1000", b.Size())
	}
	// "▁a" and "▁ab" occur twice, "▁abc" and "▁abd" once.
	b := train(t, 1000, "abc abd")
	if b.Size() != firstMerge+2 || b.Piece(firstMerge) != "▁a" || b.Piece(firstMerge+1) != "▁ab" {
		t.Errorf("%d merges, want only ▁a and ▁ab", len(b.merges))
	}
}

func TestEncodeEqualsOracle(t *testing.T) {
	lines := texttest.Lines(300)
	b := train(t, 900, append(lines, "aaaa aaaaaaa aaa", "ababab abab", "hahahaha haha")...)
	for _, s := range append(lines[:100], "", " ", "a", "aaaaaaaaaaaaaaaaaaaaa", "abababababa", "hahahahahahaha",
		strings.Repeat("schwei", 60), "中文中文中文не", "\xff\x00", "Zebra  q\t7 ") {
		want := slowEncode(b, s)
		if s == "" {
			want = nil
		}
		for range 2 { // the second time from the cache
			if got := b.Encode(nil, s); !slices.Equal(got, want) {
				t.Errorf("ids of %q: %v, want %v", s, got, want)
			}
		}
	}
}

func TestEncodeAppends(t *testing.T) {
	b := train(t, 300, "a b c")
	got := b.Encode([]int32{text.BOS}, "a")
	if want := append([]int32{text.BOS}, b.Encode(nil, "a")...); !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v", got, want)
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	lines := texttest.Lines(4000)
	b := train(t, 600, lines[:2000]...)
	var ids []int32
	encode := func() {
		for _, l := range lines { // words in and out of the cache
			ids = b.Encode(ids[:0], l)
		}
	}
	encode()
	// A garbage collection may empty the sync.Pool.
	if n := testing.AllocsPerRun(3, encode); n > 20 && !raceDetector {
		t.Errorf("%v allocations for %d lines, want at most 20", n, len(lines))
	}
}

func TestDecode(t *testing.T) {
	b := train(t, 300, "hello hello")
	ids := b.Encode([]int32{text.BOS, text.Pad}, "hello  world")
	ids = append(ids, text.EOS, -1, int32(b.Size()), 1<<30, -1<<31)
	if got, want := b.Decode(ids), "hello  world"; got != want {
		t.Errorf("Decode(%v) = %q, want %q", ids, got, want)
	}
	bytes := ""
	for _, id := range ids {
		bytes += b.Bytes(id)
	}
	if want := " hello  world"; bytes != want {
		t.Errorf("Bytes of %v = %q, want %q", ids, bytes, want)
	}
	if got := b.Decode([]int32{firstByte + 'x'}); got != "x" {
		t.Errorf("Decode of x without a leading space = %q, want x", got)
	}
}

func TestPiece(t *testing.T) {
	b := train(t, firstMerge+3, "hé hé hé", "\n\xc3 \n\xc3")
	for id, want := range map[int32]string{
		text.Pad: "<pad>", text.BOS: "<s>", text.EOS: "</s>", -1: "<?>", int32(b.Size()): "<?>",
		firstByte + 'a': "a", firstByte + ' ': "▁", firstByte + '\n': "<0x0A>", firstByte + 0xE4: "<0xE4>",
		firstMerge: "▁h", firstMerge + 1: "é", firstMerge + 2: "▁hé",
	} {
		if got := b.Piece(id); got != want {
			t.Errorf("Piece(%d) = %q, want %q", id, got, want)
		}
	}
}

// Repetitions of a letter are the worst case of the queue, a line without spaces that of the cache.
func TestEncodeIsNotQuadratic(t *testing.T) {
	b := train(t, 400, strings.Repeat("a", 64), strings.Repeat("a", 64))
	s := strings.Repeat("a", 1<<20) + strings.Repeat(" ", 1<<20) + strings.Repeat("\xff", 1<<20)
	if got := b.Decode(b.Encode(nil, s)); got != s {
		t.Error("3 MiB of repetitions decode to another text")
	}
}

func FuzzRoundTrip(f *testing.F) {
	b := train(f, 700, append(texttest.Lines(200), "\xff\xfe \xff\xfe", "  x  x", "\t\t \t\t")...)
	for _, s := range []string{"", " ", "  a", "a ", "\x00", "\xff", "Ein Hund.\r\n", "中文 да", "\u200d\ufe0f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids := b.Encode(nil, s)
		for _, id := range ids {
			if id < firstByte || int(id) >= b.Size() {
				t.Fatalf("ids of %q include %d, want bytes and merges alone", s, id)
			}
		}
		if got := b.Decode(ids); got != s {
			t.Fatalf("%q decodes to %q", s, got)
		}
		if s != "" && !slices.Equal(ids, slowEncode(b, s)) {
			t.Fatalf("ids of %q are %v, want %v", s, ids, slowEncode(b, s))
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	lines := texttest.Lines(20000)
	var bytes int64
	for _, l := range lines {
		bytes += int64(len(l))
	}
	for _, size := range []int{1000, 8000} {
		bpe := train(b, size, lines...)
		for _, words := range []string{"cached", "new"} {
			b.Run(fmt.Sprintf("vocab=%d/words=%s", bpe.Size(), words), func(b *testing.B) {
				b.SetBytes(bytes)
				b.ReportAllocs()
				var ids []int32
				for range b.N {
					if words == "new" {
						bpe.cache = merges.NewCache()
					}
					for _, l := range lines {
						ids = bpe.Encode(ids[:0], l)
					}
				}
				b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "lines/s")
			})
		}
	}
}

func BenchmarkTrain(b *testing.B) {
	for _, n := range []int{1000, 50000} {
		lines := texttest.Lines(n)
		b.Run(fmt.Sprintf("lines=%d/vocab=8000", n), func(b *testing.B) {
			for range b.N {
				train(b, 8000, lines...)
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
