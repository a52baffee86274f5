package translate_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

// The heads that are found agree with the statistical alignment more than the last layer does, for
// any number of threads, and a Translator uses those of its model file, or else the last layer.
func TestFindAlignHeads(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2})
	sources, targets := phrases()
	var pairs []text.Pair
	for p := range toyPairs() {
		pairs = append(pairs, p)
	}
	pairs = slices.Repeat(pairs, 5)
	found, err := tr.FindAlignHeads(background, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if found.Links < 10*len(sources) || found.Agree < found.Links*2/3 || found.Agree < 2*found.AgreeLastLayer || len(found.Heads.Heads) == 0 {
		t.Errorf("%+v, want agreement with two thirds of the links, and twice that of the last layer", found)
	}
	again, err := open(t, translate.Options{Threads: 1}).FindAlignHeads(background, pairs)
	if err != nil || !reflect.DeepEqual(again, found) {
		t.Errorf("with another number of threads: %+v, %v, want %+v", again, err, found)
	}

	path := filepath.Join(t.TempDir(), "m.safetensors")
	d := decode.PaperSettings()
	d.AlignHeads = found.Heads.String()
	if err := decode.CopyWithSettings(toyModel(), path, d); err != nil {
		t.Fatal(err)
	}
	with := open(t, translate.Options{Threads: 1, KeepModel: true})
	decoder := decode.New(decode.NewWeights(with.Model(), nil), nil)
	for _, c := range []struct {
		tr    *translate.Translator
		heads decode.AlignHeads
	}{{openFile(t, path, translate.Options{Threads: 1}), found.Heads}, {with, decode.AlignHeads{}}} {
		r := do(t, c.tr, translate.Request{Texts: sources[:1], Attention: true})[0]
		want, err := decoder.Attention(background, [][]int32{idsOf(r.Tokens)}, [][]int32{idsOf(r.Translations[0].Tokens)}, c.heads)
		if err != nil || !reflect.DeepEqual(r.Translations[0].Attention, want[0]) || r.Best() != targets[0] {
			t.Errorf("heads %v: %+v, %v, want the attention %v", c.heads, r, err, want)
		}
	}

	for _, heads := range []string{"1.0", "0.4"} {
		d.AlignHeads = heads
		if err := decode.CopyWithSettings(toyModel(), path, d); err != nil {
			t.Fatal(err)
		}
		if _, err := translate.Open(path, translate.Options{Threads: 1}); err == nil || !strings.HasPrefix(err.Error(), path+": align_heads is \""+heads) {
			t.Errorf("heads %s: error %v, want one that names the file and the head", heads, err)
		}
	}
}

func idsOf(tokens []translate.Token) (ids []int32) {
	for _, k := range tokens {
		ids = append(ids, k.ID)
	}
	return ids
}

func TestFindAlignHeadsErrors(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	if _, err := tr.FindAlignHeads(background, nil); err == nil || !strings.Contains(err.Error(), "too few pairs") {
		t.Errorf("error %v, want \"too few pairs\"", err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := tr.FindAlignHeads(ctx, make([]text.Pair, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestAlignWords(t *testing.T) {
	token := func(start, end int) translate.Token {
		return translate.Token{Range: text.Range{Start: start, End: end}}
	}
	const source = " a  bcd e"
	r := translate.Result{Tokens: []translate.Token{token(0, 2), token(2, 3), token(3, 5), token(5, 7), token(7, 9)}}
	tr := translate.Translation{Text: "x yz", Tokens: []translate.Token{token(0, 1), token(1, 3), token(3, 4)}}
	tr.Attention = [][]float32{
		{0.1, 0.5, 0.1, 0.1, 0.15, 0.05}, // the white space has most, then bcd with two tokens
		{0.4, 0, 0, 0, 0.3, 0.3},
		{0, 0, 0.2, 0, 0.3, 0.5}, // with the row before, the last word has most
		{0, 0, 0, 0, 0, 1},
	}
	if got, want := r.AlignWords(source, tr), [][2]int{{1, 0}, {2, 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("AlignWords = %v, want %v", got, want)
	}
	if got := r.AlignWords(source, translate.Translation{Text: "x"}); got != nil {
		t.Errorf("AlignWords without Attention = %v, want nil", got)
	}
}
