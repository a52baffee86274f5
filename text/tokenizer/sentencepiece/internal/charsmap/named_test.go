package charsmap

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var rulesFolder = flag.String("rules", "", "`folder` that ../../testdata/rules.py has written, to make normalizations.gz")

// rulesOf returns the rules of an encoded map.
func rulesOf(t testing.TB, data []byte) map[string]string {
	t.Helper()
	m, err := Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{}
	var visit func(i uint32, key []byte)
	visit = func(i uint32, key []byte) {
		base := i ^ nodeOffset(m.nodes[i])
		if hasValue(m.nodes[i]) {
			text := m.texts[m.nodes[base]&^valueBit:]
			rules[string(key)] = text[:strings.IndexByte(text, 0)]
		}
		for b := uint32(0); b < 256; b++ {
			if base^b < uint32(len(m.nodes)) && m.nodes[base^b]&(valueBit|0xFF) == b {
				visit(base^b, append(key, byte(b)))
			}
		}
	}
	visit(0, nil)
	return rules
}

// A map has the rules that it was made of, and replaces each of their texts.
func TestRules(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune{1, 'a', 'b', 'é', '\u0300', '각', '😀', 0x10FFFF}
	word := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		return s.String()
	}
	for round := range 15 {
		want := map[string]string{}
		for range 1 + random.IntN(1+20*round) {
			want[word(1+random.IntN(5))] = word(random.IntN(3))
		}
		var entries []entry
		var texts string
		for from, to := range want {
			entries = append(entries, entry{from, uint32(len(texts))})
			texts += to + "\x00"
		}
		nodes, err := buildTrie(entries)
		if err != nil {
			t.Fatal(err)
		}
		data := binary.LittleEndian.AppendUint32(nil, uint32(4*len(nodes)))
		data, _ = binary.Append(data, binary.LittleEndian, nodes)
		data = append(data, texts...)
		if got := rulesOf(t, data); !maps.Equal(got, want) {
			t.Fatalf("rules %q, want %q", got, want)
		}
		m, err := Unmarshal(data)
		if err != nil {
			t.Fatal(err)
		}
		for from, to := range want {
			if got, n := m.Longest(from); got != to || n != len(from) {
				t.Fatalf("%q is replaced by %q, %d bytes, want %q", from, got, n, to)
			}
		}
	}
}

// readRules reads a file of testdata/rules.py: on each line the characters to replace, a tab and
// their replacement, each as hexadecimal numbers with spaces between them.
func readRules(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	characters := func(field string) string {
		var s strings.Builder
		for _, hex := range strings.Fields(field) {
			c, err := strconv.ParseUint(hex, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			s.WriteRune(rune(c))
		}
		return s.String()
	}
	rules := map[string]string{}
	for line := range strings.Lines(string(data)) {
		from, to, _ := strings.Cut(line, "\t")
		rules[characters(from)] = characters(to)
	}
	return rules
}

// TestNormalizations makes normalizations.gz if -rules names its rules, and compares the maps.
func TestNormalizations(t *testing.T) {
	if *rulesFolder == "" {
		t.Skip("optional: -rules names no folder")
	}
	families := [2][2]string{{"nfkc", "nmt_nfkc"}, {"nfkc_cf", "nmt_nfkc_cf"}}
	rules := map[string]map[string]string{}
	for _, name := range slices.Concat(families[0][:], families[1][:]) {
		rules[name] = readRules(t, filepath.Join(*rulesFolder, name+".tsv"))
	}
	var out []byte
	field := func(data []byte) {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), data...)
	}
	for _, names := range families {
		plain, nmt := rules[names[0]], rules[names[1]]
		all := maps.Clone(plain)
		maps.Copy(all, nmt)
		var entries []entry
		var texts [2]strings.Builder
		index := map[[2]string]uint32{}
		for _, k := range slices.Sorted(maps.Keys(all)) {
			pair := [2]string{k, k}
			for i, m := range []map[string]string{plain, nmt} {
				if v, ok := m[k]; ok {
					pair[i] = v
				} else if utf8.RuneCountInString(k) != 1 {
					t.Fatalf("%s lacks %q, expected the same sequences", names[i], k)
				}
			}
			at, ok := index[pair]
			if !ok {
				at = uint32(len(index))
				index[pair] = at
				texts[0].WriteString(pair[0] + "\x00")
				switch pair[1] {
				case sameReplacement:
					t.Fatalf("%s replaces %q by %q, which has another meaning", names[1], k, pair[1])
				case pair[0]:
					pair[1] = sameReplacement
				}
				texts[1].WriteString(pair[1] + "\x00")
			}
			entries = append(entries, entry{k, at})
		}
		nodes, err := buildTrie(entries)
		if err != nil {
			t.Fatal(err)
		}
		var planes []byte
		for b := range 4 {
			for _, node := range nodes {
				planes = append(planes, byte(node>>(8*b)))
			}
		}
		field(planes)
		field([]byte(texts[0].String()))
		field([]byte(texts[1].String()))
	}
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	w.Write(out)
	w.Close()
	if err := os.WriteFile("normalizations.gz", zipped.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	normalizations = zipped.Bytes()
	for name, want := range rules {
		got := rulesOf(t, Named(name))
		maps.DeleteFunc(got, func(k, v string) bool { return k == v })
		if !maps.Equal(got, want) {
			t.Errorf("%s: %d rules, want %d", name, len(got), len(want))
		}
	}
}
