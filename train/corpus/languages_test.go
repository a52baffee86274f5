package corpus

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/model"
	"tfm/train"
)

// The sources of a tagged corpus have the tokens of their language first, in memory and in a stream
// alike, and a source without one is an error that names its line.
func TestTagged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Repeat(">>fra<< a dog\tun chien\n>>deu<< a dog\tein Hund\n", 20)
	write(lines)
	o := train.DefaultOptions()
	o.ValidEvery = 0
	options := Options{Train: TSV(path), VocabSize: 300, Joint: true, Tagged: true}
	c, err := Read(context.Background(), options, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	source := c.Vocab.Source
	want := model.FormatLanguages([]model.Language{{Code: "deu", IDs: source.Encode(nil, ">>deu<<")}, {Code: "fra", IDs: source.Encode(nil, ">>fra<<")}})
	if c.TgtLanguages != want {
		t.Errorf("languages %q, want %q", c.TgtLanguages, want)
	}
	for i, code := range []string{">>fra<<", ">>deu<<"} {
		if got, want := c.Train.Src(i), slices.Concat(source.Encode(nil, code), source.Encode(nil, "a dog")); !slices.Equal(got, want) {
			t.Errorf("source %v, want %v", got, want)
		}
	}
	o.ShuffleWindow = 10
	options.Tokenizers = &c.Vocab
	s, err := Read(context.Background(), options, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var window train.Pairs
	if err := s.Stream.Read(context.Background(), &window, 0, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(window.Src(1), c.Train.Src(1)) {
		t.Errorf("source %v in a stream, want %v", window.Src(1), c.Train.Src(1))
	}
	options.Model = model.Config{Source: model.ToFirst, TgtLanguages: "fra=5"}
	if _, err := Read(context.Background(), options, o); err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "deu") {
		t.Errorf("error %v, want one of deu in line 2", err)
	}
	write(lines + "a dog\tun chien\n")
	options.Model = model.Config{}
	if _, err := Read(context.Background(), options, o); err == nil || !strings.Contains(err.Error(), "line 41") {
		t.Errorf("error %v, want one of line 41", err)
	}
	write(lines + ">>a=3<< a dog\tun chien\n")
	if _, err := Read(context.Background(), options, o); err == nil || !strings.Contains(err.Error(), `line 41: found language "a=3"`) {
		t.Errorf("error %v, want one of line 41", err)
	}
	long := strings.Repeat("zyxwvu", 8)
	write(lines + ">>" + long + "<< a dog\tun chien\n")
	if _, err := Read(context.Background(), options, o); err == nil || !strings.Contains(err.Error(), "expected up to 16") || !strings.Contains(err.Error(), long) {
		t.Errorf("error %v, want one of the pieces of %s", err, long)
	}
}
