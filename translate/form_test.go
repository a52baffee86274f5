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

// decodingFile writes the toy model for decoding: a file that is mapped when it is opened.
func decodingFile(t *testing.T) string {
	t.Helper()
	file, err := decode.Load(toyModel(), decode.Int8, nil)
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

// A file for decoding has the translations of the original with Options.Int8.
func TestOpenFilesForDecoding(t *testing.T) {
	texts := []string{"the red dog", "", "the small cat sees the old house"}
	results := func(path string, o translate.Options) []translate.Result {
		t.Helper()
		return do(t, openFile(t, path, o), translate.Request{Texts: texts})
	}
	want := results(toyModel(), translate.Options{Int8: true})
	for _, isInt8 := range []bool{false, true} {
		if got := results(decodingFile(t), translate.Options{Int8: isInt8}); !reflect.DeepEqual(got, want) {
			t.Errorf("Int8 %t: %v, want %v", isInt8, got, want)
		}
	}
	if _, err := translate.Open(decodingFile(t), translate.Options{KeepModel: true}); err == nil {
		t.Error("no error for KeepModel of a file for decoding")
	}
}

// Close unmaps a file only when no call uses it: otherwise the program would end.
func TestCloseOfAMappedFile(t *testing.T) {
	path := decodingFile(t)
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
