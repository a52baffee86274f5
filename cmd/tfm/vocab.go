package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/internal/format"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/bpe"
)

func vocabCommand() cli.Command {
	return cli.Command{
		Name:  "vocab",
		Short: "train a tokenizer, or look at what one does",
		Usage: "-o F [-vocab-size N] FILE... | -vocab F -show|-encode|-pieces|-decode [FILE...]",
		Example: `
			tfm vocab -o joint.bpe -vocab-size 8000 train.en train.de
			echo 'Ein Hund.' | tfm vocab -vocab joint.bpe -pieces`,
		Notes: `A tokenizer is a byte-level byte-pair encoding: every text can be encoded and comes back exactly.
'tfm train' makes its own unless it is given one; both files of a language pair make a joint vocabulary.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			var v vocabSettings
			f.StringVar(&v.out, "o", "", "`file` to write the trained tokenizer to")
			f.IntVar(&v.size, "vocab-size", 8000, "pieces, of which 259 are fixed: padding, begin, end and the bytes")
			f.StringVar(&v.tokenizer, "vocab", "", "tokenizer or model `file` to look at, instead of training one")
			f.StringVar(&v.side, "side", "source", "which tokenizer of a model that has two: source or target")
			f.BoolVar(&v.show, "show", false, "print all pieces with their numbers")
			f.BoolVar(&v.encode, "encode", false, "print the text of the files, or of standard input, as numbers")
			f.BoolVar(&v.pieces, "pieces", false, "print it as pieces")
			f.BoolVar(&v.decode, "decode", false, "print lines of numbers as text")
			return v.run
		},
	}
}

type vocabSettings struct {
	out, tokenizer, side         string
	size                         int
	show, encode, pieces, decode bool
}

func (v *vocabSettings) run(_ context.Context, args []string) error {
	modes := 0
	for _, on := range []bool{v.out != "", v.show, v.encode, v.pieces, v.decode} {
		if on {
			modes++
		}
	}
	switch {
	case modes != 1:
		return cli.Usagef("one of -o, -show, -encode, -pieces and -decode is needed")
	case v.out != "" && v.tokenizer != "":
		return cli.Usagef("-o trains a tokenizer, -vocab names one that exists")
	case v.out != "":
		return v.train(args)
	case v.tokenizer == "":
		return cli.Usagef("-vocab is missing")
	case v.side != "source" && v.side != "target":
		return cli.Usagef("-side %q: must be source or target", v.side)
	}
	both, err := tokenizers.Read(v.tokenizer)
	if err != nil {
		return err
	}
	tokenizer := both.Source
	if v.side == "target" {
		tokenizer = both.Target
	}
	if v.show {
		if err := cli.NoArguments(args); err != nil {
			return err
		}
		w := bufio.NewWriter(os.Stdout)
		for id := range tokenizer.Size() {
			fmt.Fprintf(w, "%d\t%s\n", id, tokenizer.Piece(int32(id)))
		}
		return w.Flush()
	}
	w := bufio.NewWriter(os.Stdout)
	for lines, err := range text.Batches(context.Background(), inputLines(args, strictLines), 256) {
		for _, l := range lines {
			var converted string
			if converted, err = v.convert(tokenizer, l); err != nil {
				break
			}
			converted, _ = text.OneLine(converted, nil)
			w.WriteString(converted + "\n")
		}
		if err := errors.Join(err, w.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// strictLines numbers the lines of text.ReadLines.
func strictLines(r io.Reader, name string) iter.Seq2[text.Line, error] {
	return func(yield func(text.Line, error) bool) {
		n := 0
		for s, err := range text.ReadLines(r, name) {
			if n++; !yield(text.Line{File: name, Number: n, Text: s}, err) || err != nil {
				return
			}
		}
	}
}

func (v *vocabSettings) convert(tokenizer text.Tokenizer, l text.Line) (string, error) {
	if v.decode {
		ids, err := numbers(l, tokenizer.Size())
		return tokenizer.Decode(ids), err
	}
	var words []string
	for _, id := range tokenizer.Encode(nil, l.Text) {
		if v.pieces {
			words = append(words, tokenizer.Piece(id))
		} else {
			words = append(words, strconv.Itoa(int(id)))
		}
	}
	return strings.Join(words, " "), nil
}

// numbers reads a line of ids below size.
func numbers(l text.Line, size int) (ids []int32, err error) {
	for _, field := range strings.Fields(l.Text) {
		id, err := strconv.Atoi(field)
		if err != nil || id < 0 || id >= size {
			return nil, fmt.Errorf("%s:%d: %q is no number from 0 to %d", l.File, l.Number, field, size-1)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

func (v *vocabSettings) train(files []string) error {
	if len(files) == 0 {
		return cli.Usagef("no files to train on")
	}
	if v.size < bpe.MinSize {
		return cli.Usagef("-vocab-size %d: at least %d are needed, for 256 bytes and 3 special ids", v.size, bpe.MinSize)
	}
	if err := cli.CheckWritable(v.out); err != nil {
		return err
	}
	var trainer bpe.Trainer
	lines := 0
	for _, name := range files {
		for l, err := range text.Lines(name) {
			if err != nil {
				return err
			}
			trainer.Add(l)
			lines++
		}
	}
	tokenizer, err := trainer.Train(v.size)
	if err != nil {
		return err
	}
	data, err := tokenizer.MarshalBinary()
	if err != nil {
		return err
	}
	err = safetensors.WriteAtomic(v.out, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if note := tokenizers.SampleNote(trainer.Threshold()); note != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", v.out, note)
	}
	fmt.Fprintf(os.Stderr, "%s: %s pieces from %s lines\n", v.out, format.Thousands(tokenizer.Size()), format.Thousands(lines))
	return nil
}
