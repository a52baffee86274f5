package corpus_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/train"
	"tfm/train/corpus"
)

// Train trains a model on the files src and tgt and writes it to path.
func Train(ctx context.Context, src, tgt, path string) error {
	o := train.OptionsFor("demo")
	o.Steps, o.BatchTokens, o.Dir = 2, 300, path+".ckpt"
	pairs := corpus.Options{Train: corpus.Files(src, tgt), VocabSize: 300, Joint: true}
	c, err := corpus.Read(ctx, pairs, o)
	if err != nil {
		return err
	}
	defer c.Close()
	config, err := model.Preset("demo")
	if err != nil {
		return err
	}
	config.SrcVocab, config.TgtVocab = c.Vocab.Source.Size(), c.Vocab.Target.Size()
	m, err := model.New(config)
	if err != nil {
		return err
	}
	m.AllocForTraining()
	m.Init(o.Seed)
	pool := mat.NewPool(2)
	defer pool.Close()
	if _, err := train.Run(ctx, m, pool, c.Data, o, nil); err != nil {
		return err
	}
	f := model.File{Model: m, Tokenizers: c.Tokenizers, Decoding: o.Search.Saved().String()}
	return f.Save(path)
}

func Example() {
	dir, err := os.MkdirTemp("", "corpus-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	src, tgt, path := filepath.Join(dir, "train.en"), filepath.Join(dir, "train.de"), filepath.Join(dir, "en-de.safetensors")
	os.WriteFile(src, []byte(strings.Repeat("a dog runs\nthe cat sleeps\n", 100)), 0o666)
	os.WriteFile(tgt, []byte(strings.Repeat("ein Hund rennt\ndie Katze schläft\n", 100)), 0o666)
	if err := Train(context.Background(), src, tgt, path); err != nil {
		log.Fatal(err)
	}
	header, err := model.LoadHeader(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(header.Config.EncoderLayers, "encoder layers, a vocabulary of", header.Config.SrcVocab)
	// Output: 2 encoder layers, a vocabulary of 300
}
