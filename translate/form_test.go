package translate_test

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"tfm/model/decode"
	"tfm/translate"
)

// decodingFile writes the toy model in a form for decoding, which is mapped when it is opened.
func decodingFile(t *testing.T, f decode.Form) string {
	t.Helper()
	file, err := decode.Load(toyModel(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Weights.Close()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := file.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file for decoding has the translations of the original, in int8 those with Options.Int8.
func TestOpenFilesForDecoding(t *testing.T) {
	texts := []string{"the red dog", "", "the small cat sees the old house"}
	results := func(path string, o translate.Options) []translate.Result {
		t.Helper()
		return do(t, openFile(t, path, o), translate.Request{Texts: texts})
	}
	exact, rounded := results(toyModel(), translate.Options{}), results(toyModel(), translate.Options{Int8: true})
	for _, c := range []struct {
		form decode.Form
		o    translate.Options
		want []translate.Result
	}{{decode.Float32, translate.Options{}, exact}, {decode.Float32, translate.Options{Int8: true}, rounded}, {decode.Int8, translate.Options{}, rounded}} {
		if got := results(decodingFile(t, c.form), c.o); !reflect.DeepEqual(got, c.want) {
			t.Errorf("file in %v, Int8 %t: %v, want %v", c.form, c.o.Int8, got, c.want)
		}
	}
	if _, err := translate.Open(decodingFile(t, decode.Int8), translate.Options{KeepModel: true}); err == nil {
		t.Error("no error for KeepModel of a file for decoding")
	}
}

// Close unmaps a file only when no call uses it: otherwise the program would end.
func TestCloseOfAMappedFile(t *testing.T) {
	path := decodingFile(t, decode.Int8)
	for i := range 20 {
		tr, err := translate.Open(path, translate.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		started := make(chan struct{}, 8)
		for j := range 8 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				for {
					if j%2 == 0 {
						go cancel() // in the middle of a call
					}
					_, err := tr.Translate(ctx, []string{"the red dog sees the small cat", "the old tree"})
					select {
					case started <- struct{}{}:
					default:
					}
					if err != nil {
						return // closed or cancelled
					}
				}
			})
		}
		for range i % 8 {
			<-started
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if err := tr.Close(); err != nil {
			t.Error("second Close:", err)
		}
		if _, err := tr.Translate(background, []string{"the red dog"}); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("after Close: error %v, want \"closed\"", err)
		}
	}
}
