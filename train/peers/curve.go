//go:build ignore

// Command curve is tfm's half of the comparison of loss curves with PyTorch, see curve.sh.
//
// Usage: curve [flags] SRC TGT DIR
//
// It trains on two text files without dropout and writes to DIR
//
//	lengths.tsv          lengths of each pair in tokens, with EOS: source, tab, target
//	initial.safetensors  the model before the first step
//	settings.json        learning rate of each step, clipping, Adam's parameters
//	batches.jsonl        batch of each step: {"src":[[id, …], …],"tgt":[[id, …], …]}, without
//	                     special tokens
//	tfm/log.jsonl        the log of the run, as tfm train writes it
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/train"
	"tfm/train/runlog"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("curve: ")
	o := train.OptionsFor("tiny")
	vocab := flag.Int("vocab-size", 8000, "pieces of the joint vocabulary")
	threads := flag.Int("threads", 1, "threads")
	flag.IntVar(&o.Steps, "steps", 200, "steps")
	flag.IntVar(&o.BatchTokens, "batch-tokens", 4096, "limit of target tokens in a batch")
	flag.Float64Var(&o.LR, "lr", o.LR, "peak learning rate")
	flag.IntVar(&o.Warmup, "warmup", o.Warmup, "steps of warmup")
	flag.Parse()
	if flag.NArg() != 3 {
		log.Fatal("usage: curve [flags] SRC TGT DIR")
	}
	dir := flag.Arg(2)
	o.ValidEvery, o.Average = 0, 0

	pairs := read(flag.Arg(0), flag.Arg(1), *vocab)
	lengths := create(dir, "lengths.tsv")
	for i := range pairs.Len() {
		fmt.Fprintf(lengths, "%d\t%d\n", len(pairs.Src(i))+1, len(pairs.Tgt(i))+1)
	}
	lengths.close()

	c := must(model.Preset("tiny"))
	c.Dropout, c.SrcVocab, c.TgtVocab = 0, *vocab, *vocab
	m := must(model.New(c))
	m.AllocForTraining()
	m.Init(o.Seed)
	check(model.File{Model: m}.Save(filepath.Join(dir, "initial.safetensors")))

	batches := must(train.NewBatches(pairs, o.BatchTokens, o.MaxLen, o.Seed))
	file, rate := create(dir, "batches.jsonl"), o.LearningRate(c.DModel)
	var b model.Batch
	var rates []float64
	for step := range o.Steps {
		batches.Next(&b)
		var sides struct {
			Src [][]int32 `json:"src"`
			Tgt [][]int32 `json:"tgt"`
		}
		for i := range b.Sentences() {
			sides.Src = append(sides.Src, b.Src[b.SrcStarts[i]:b.SrcStarts[i+1]-1])
			sides.Tgt = append(sides.Tgt, b.TgtIn[b.TgtStarts[i]+1:b.TgtStarts[i+1]])
		}
		file.json(sides)
		rates = append(rates, rate.Rate(step+1))
	}
	file.close()
	settings := create(dir, "settings.json")
	settings.json(map[string]any{"rates": rates, "clip_norm": o.ClipNorm, "beta1": o.Beta1, "beta2": o.Beta2, "eps": o.Eps})
	settings.close()

	check(os.MkdirAll(filepath.Join(dir, "tfm"), 0o777))
	events := must(runlog.Create(filepath.Join(dir, "tfm", runlog.FileName)))
	events.Start(runlog.Start{Time: time.Now(), Version: "tfm", TrainPairs: pairs.Len(), Vocabulary: *vocab, Parameters: m.Params.Count(),
		Threads: *threads, Kernels: mat.Kernel(), Settings: map[string]string{"preset": "tiny", "dropout": "0",
			"batch-tokens": fmt.Sprint(o.BatchTokens), "lr": fmt.Sprint(o.LR), "warmup": fmt.Sprint(o.Warmup)}})
	pool := mat.NewPool(*threads)
	defer pool.Close()
	result := must(train.Run(context.Background(), m, pool, train.Data{Train: pairs}, o, func(e train.Event) { check(e.Log(events)) }))
	events.End(runlog.End{Time: time.Now(), Reason: string(result.Reason), Step: result.Step})
	check(events.Close())
}

// read learns a tokenizer from two files and returns their ids.
func read(src, tgt string, vocab int) *train.Pairs {
	var trainer bpe.Trainer
	for p, err := range (text.Files{Source: src, Target: tgt}).Pairs() {
		check(err)
		trainer.Add(p.Source)
		trainer.Add(p.Target)
	}
	tokenizer, pairs := must(trainer.Train(vocab)), new(train.Pairs)
	for p, err := range (text.Files{Source: src, Target: tgt}).Pairs() {
		check(err)
		pairs.Add(tokenizer.Encode(nil, p.Source), tokenizer.Encode(nil, p.Target))
	}
	return pairs
}

// output is a buffered file.
type output struct {
	*bufio.Writer
	file *os.File
}

func create(dir, name string) output {
	path := filepath.Join(dir, name)
	check(os.MkdirAll(filepath.Dir(path), 0o777))
	f := must(os.Create(path))
	return output{bufio.NewWriter(f), f}
}

// json writes v as a line.
func (o output) json(v any) {
	check(json.NewEncoder(o).Encode(v))
	check(o.Flush())
}

func (o output) close() {
	check(o.Flush())
	check(o.file.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
