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
// any number of threads, and a Translator uses those of its model file.
func TestFindAlignHeads(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2})
	sources, targets := phrases()
	var pairs []text.Pair
	for i := range sources {
		pairs = append(pairs, text.Pair{Source: sources[i], Target: targets[i]})
	}
	pairs = slices.Repeat(pairs, 5)
	pairs = append(pairs, text.Pair{Source: "the dog"}, text.Pair{Target: "le chien"}, text.Pair{Source: strings.Repeat("the dog ", 50), Target: "le chien"})
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
	aligned, err := translate.Open(path, translate.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer aligned.Close()
	results, err := aligned.Do(background, translate.Request{Texts: sources[:1], Attention: true})
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	with := open(t, translate.Options{Threads: 1, KeepModel: true})
	want, err := decode.New(decode.NewWeights(with.Model(), nil), nil).Attention(background, [][]int32{idsOf(r.Tokens)}, [][]int32{idsOf(r.Translations[0].Tokens)}, found.Heads)
	if err != nil || !reflect.DeepEqual(r.Translations[0].Attention, want[0]) || r.Best() != targets[0] {
		t.Errorf("%+v, %v, want the attention %v", r, err, want)
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
