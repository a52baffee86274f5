package train

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text/sentencepiece"
	"tfm/text/sentencepiece/internal/charsmap"
)

var rulesFolder = flag.String("rules", "", "`folder` that ../testdata/rules.py has written, to compile and compare normalizations.gz")

// charsmapRules returns the rules of a charsmap.
func charsmapRules(t testing.TB, data []byte) map[string]string {
	t.Helper()
	if _, err := charsmap.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	nodes := make([]uint32, binary.LittleEndian.Uint32(data)/4)
	binary.Decode(data[4:], binary.LittleEndian, nodes)
	texts := string(data[4+4*len(nodes):])
	rules := map[string]string{}
	var visit func(i uint32, key []byte)
	visit = func(i uint32, key []byte) {
		base := i ^ nodes[i]>>10<<(nodes[i]&(1<<9)>>6)
		if nodes[i]>>8&1 == 1 {
			text := texts[nodes[base]&^charsmap.ValueBit:]
			rules[string(key)] = text[:strings.IndexByte(text, 0)]
		}
		for b := uint32(0); b < 256; b++ {
			if base^b < uint32(len(nodes)) && nodes[base^b]&(charsmap.ValueBit|0xFF) == b {
				visit(base^b, append(key, byte(b)))
			}
		}
	}
	visit(0, nil)
	return rules
}

func TestCompileRules(t *testing.T) {
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
		var tsv strings.Builder
		for range 1 + random.IntN(1+20*round) {
			k, v := word(1+random.IntN(5)), word(random.IntN(3))
			if _, ok := want[k]; !ok {
				want[k] = v
				fmt.Fprintf(&tsv, "%s\t%X\t# comment\n", strings.Trim(strings.ReplaceAll(fmt.Sprintf("%U", []rune(k)), "U+", ""), "[]"), []rune(v))
			}
		}
		data, err := CompileRules(strings.NewReader(strings.NewReplacer("[", "", "]", "").Replace(tsv.String())), "rules.tsv")
		if err != nil {
			t.Fatal(err)
		}
		if got := charsmapRules(t, data); !maps.Equal(got, want) {
			t.Fatalf("rules %q, want %q", got, want)
		}
	}
}

func TestCompileRulesErrors(t *testing.T) {
	for tsv, want := range map[string]string{
		"":                                  "rules.tsv: no rules",
		"\n41\t42\n41\t43\n":                `rules.tsv:3: found a second rule for "A", the first is in line 2`,
		"41 XY\t42":                         `rules.tsv:1: found "XY", expected a hexadecimal character`,
		"0\t42":                             `rules.tsv:1: found "0"`,
		"D800\t42":                          `rules.tsv:1: found "D800"`,
		"41\t110000":                        `rules.tsv:1: found "110000"`,
		"\t42":                              "rules.tsv:1: found no characters to replace",
		"41\t" + strings.Repeat("42 ", 257): "rules.tsv:1: found a replacement of 257 bytes, expected at most 256",
		strings.Repeat("41 ", 1<<16):        "rules.tsv:1: found a line of more than 65536 bytes",
	} {
		if _, err := CompileRules(strings.NewReader(tsv), "rules.tsv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CompileRules(%.40q): error %v, want %q", tsv, err, want)
		}
	}
}

// TestNormalizations compiles normalizations.gz if -rules names its rules, and compares the maps.
func TestNormalizations(t *testing.T) {
	if *rulesFolder == "" {
		t.Skip("optional: -rules names no folder")
	}
	families := [2][2]string{{"nfkc", "nmt_nfkc"}, {"nfkc_cf", "nmt_nfkc_cf"}}
	rules := map[string]map[string]string{}
	for _, name := range slices.Concat(families[0][:], families[1][:]) {
		f, err := os.Open(filepath.Join(*rulesFolder, name+".tsv"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := CompileRules(f, f.Name())
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		rules[name] = charsmapRules(t, data)
		t.Logf("%s: %d rules, %d bytes", name, len(rules[name]), len(data))
	}
	var out []byte
	field := func(data []byte) {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), data...)
	}
	for _, names := range families {
		plain, nmt := rules[names[0]], rules[names[1]]
		all := maps.Clone(plain)
		maps.Copy(all, nmt)
		var entries []charsmap.Entry
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
			entries = append(entries, charsmap.Entry{Key: k, Value: at})
		}
		nodes, err := charsmap.BuildTrie(entries)
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
		spec, err := NamedNormalizer(name)
		if err != nil {
			t.Fatal(err)
		}
		got := charsmapRules(t, spec.PrecompiledCharsmap)
		maps.DeleteFunc(got, func(k, v string) bool { return k == v })
		if !maps.Equal(got, want) {
			t.Errorf("%s: %d rules, want %d", name, len(got), len(want))
		}
		t.Logf("%s: %d bytes", name, len(spec.PrecompiledCharsmap))
	}
}

// FuzzCompileRules compiles files of normalization rules. The charsmap of a file that is accepted
// has its rules.
func FuzzCompileRules(f *testing.F) {
	f.Add([]byte("0041\t0061\n0041 0300\tU+E0\t# À\r\n\n2028\t\n"), "aÀ\xff")
	f.Add([]byte("41\t\n41\t42\n"), "A")
	f.Add([]byte("D800\t41"), "")
	f.Add([]byte("10FFFF 1\t"+strings.Repeat("1F600 ", 40)), "\U0010FFFF\x01")
	f.Fuzz(func(t *testing.T, tsv []byte, s string) {
		data, err := CompileRules(bytes.NewReader(tsv), "rules.tsv")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "rules.tsv:") {
				t.Fatalf("error without the file's name: %v", err)
			}
			return
		}
		n, err := sentencepiece.NewNormalizer(&sentencepiece.NormalizerSpec{PrecompiledCharsmap: data})
		if err != nil {
			t.Fatal(err)
		}
		for from, to := range charsmapRules(t, data) {
			if normal := string(n.Append(nil, from)); normal != to {
				t.Fatalf("%q is normalized to %q, want %q", from, normal, to)
			}
		}
		if normal := n.Append(nil, s); !utf8.Valid(normal) {
			t.Fatalf("%q is normalized to %q, want UTF-8", s, normal)
		}
	})
}
