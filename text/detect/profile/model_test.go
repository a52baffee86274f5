package profile

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomModel returns a model with the n-grams of a text and others.
func randomModel(text string, s Script) *Model {
	rng := rand.New(rand.NewPCG(1, 2))
	hashes := map[uint32]bool{}
	words := NewWords(text, s)
	for list := words.Next(); list != nil; list = words.Next() {
		for i, h := range list {
			if i%3 > 0 {
				hashes[h] = true
			}
		}
	}
	for range 1000 {
		hashes[uint32(rng.IntN(1<<HashBits))] = true
	}
	m := &Model{Slopes: [16]float32{3: 1.5}}
	for h := range uint32(1 << HashBits) {
		if hashes[h] {
			v := [Dim]int8{}
			for i := range v {
				v[i] = int8(rng.IntN(256) - 128)
			}
			m.Grams, m.Vectors = append(m.Grams, h), append(m.Vectors, v)
		}
	}
	for _, l := range []Language{{Tag: "aa", Script: Latin, Bias: -3}, {Tag: "bb", Script: Latin}, {Tag: "cc", Script: Han}} {
		for i := range l.Weights {
			l.Weights[i] = int16(rng.IntN(1<<16) - 1<<15)
		}
		m.Languages = append(m.Languages, l)
	}
	m.Prepare()
	return m
}

const someText = "Ärger über d’accord,  it's  naïve… NAI\u0308VE x ' y ''z 'Quote' 42 слово"

// Sum adds up the vectors of all n-grams.
func TestSum(t *testing.T) {
	m := randomModel(someText, Latin)
	text := ""
	for range 40 {
		text += someText + " "
	}
	var want [Dim]int32
	n := 0
	words := NewWords(text, Latin)
	for list := words.Next(); list != nil; list = words.Next() {
		for _, h := range list {
			for i, gram := range m.Grams {
				if gram == h {
					for j, x := range m.Vectors[i] {
						want[j] += int32(x)
					}
					n++
				}
			}
		}
	}
	if got, gotN := m.Sum(text, Latin); got != want || gotN != n || n == 0 {
		t.Errorf("sum %v of %d, want %v of %d", got, gotN, want, n)
	}
}

func TestEncode(t *testing.T) {
	m := randomModel(someText, Latin)
	file := m.Encode()
	got, err := Decode(file)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("another model, error %v", err)
	}
	for n := 0; n < len(file); n += len(file) / 20 {
		if _, err := Decode(file[:n]); err == nil {
			t.Errorf("%d of %d bytes are a model", n, len(file))
		}
	}
}

func TestWords(t *testing.T) {
	words := NewWords(someText, Latin)
	var got []string
	for n := words.read(); n > 0; n = words.read() {
		got = append(got, string(words.word[1:n+1]))
	}
	if want := []string{"ärger", "über", "d'accord", "it's", "naïve", "nai\u0308ve", "x", "y", "z", "quote"}; !reflect.DeepEqual(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
}

// The n-grams of a word are those of 1 to 5 characters with its boundaries, without a boundary
// alone, and the word.
func TestHashes(t *testing.T) {
	count := func(text string, s Script) int {
		words := NewWords(text, s)
		n := 0
		for list := words.Next(); list != nil; list = words.Next() {
			n += len(list)
		}
		return n
	}
	for text, want := range map[string]int{"": 0, "a": 4, "ab": 8, "abcd": 6 + 5 + 4 + 3 + 2 - 2 + 1} {
		if got := count(text, Latin); got != want {
			t.Errorf("%q has %d n-grams, want %d", text, got, want)
		}
	}
	if got := count("中文", Han); got != 6 {
		t.Errorf("2 characters have %d n-grams, want 6", got)
	}
}
