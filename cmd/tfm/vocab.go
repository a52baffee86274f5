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
		Short: "train a tokenizer, or apply one",
		Usage: "-o FILE [-vocab-size N] FILE...\n-vocab FILE -show|-encode|-pieces|-decode [FILE...]",
		Example: `
			tfm vocab -o joint.bpe -vocab-size 8000 train.en train.de
			echo 'Ein Hund.' | tfm vocab -vocab joint.bpe -pieces`,
		Notes: `The tokenizer is a byte-level byte-pair encoding: it encodes any text and decodes to the same text. 'tfm train' trains
one itself unless -vocab names one. The files of both languages make a joint vocabulary.

With -encode and -pieces, bytes that are not UTF-8 become U+FFFD and lines longer than 1 MB are truncated, with a warning,
as in 'tfm translate'. Training on such a file is an error.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			var v vocabFlags
			f.StringVar(&v.out, "o", "", "`file` to write the trained tokenizer to")
			f.IntVar(&v.size, "vocab-size", 8000, "number of pieces, including 256 bytes and 3 special ones")
			f.StringVar(&v.vocab, "vocab", "", "`file` written by 'tfm vocab', or a model, whose tokenizer to apply")
			f.StringVar(&v.side, "side", "source", "tokenizer of a model with two: source or target").Choices("source", "target")
			f.BoolVar(&v.show, "show", false, "print each id with its piece")
			f.BoolVar(&v.encode, "encode", false, "print the ids of each line of the files, or of standard input")
			f.BoolVar(&v.pieces, "pieces", false, "print the pieces of each line")
			f.BoolVar(&v.decode, "decode", false, "print the text of each line of ids")
			return v.run
		},
	}
}

// vocabFlags are the flags of the command.
type vocabFlags struct {
	out, vocab, side             string
	size                         int
	show, encode, pieces, decode bool
}

func (v *vocabFlags) run(_ context.Context, args []string) error {
	actions := 0
	for _, on := range []bool{v.out != "", v.show, v.encode, v.pieces, v.decode} {
		if on {
			actions++
		}
	}
	switch {
	case actions != 1:
		return cli.Usagef("expected one of -o, -show, -encode, -pieces and -decode")
	case v.out != "" && v.vocab != "":
		return cli.Usagef("-o trains a tokenizer and -vocab applies one: expected one of them")
	case v.out != "":
		return v.train(args)
	case v.vocab == "":
		return cli.Usagef("-vocab is missing")
	case v.side != "source" && v.side != "target":
		return cli.Usagef("-side %q: must be source or target", v.side)
	}
	pair, err := tokenizers.Read(v.vocab)
	if err != nil {
		return err
	}
	tokenizer := pair.Source
	if v.side == "target" {
		tokenizer = pair.Target
	}
	if v.show {
		if err := cli.NoArguments(args); err != nil {
			return err
		}
		return showPieces(tokenizer)
	}
	return v.apply(tokenizer, args)
}

// showPieces prints the vocabulary.
func showPieces(tokenizer text.Tokenizer) error {
	w := bufio.NewWriter(os.Stdout)
	for id := range tokenizer.Size() {
		fmt.Fprintf(w, "%d\t%s\n", id, tokenizer.Piece(int32(id)))
	}
	return w.Flush()
}

// apply converts the lines of files, or of standard input, and prints them as they arrive.
func (v *vocabFlags) apply(tokenizer text.Tokenizer, files []string) error {
	read := text.RepairLines
	if v.decode {
		read = numberedLines // a truncated line of ids would lose text
	}
	warnings := text.Warnings{Show: func(s string) { fmt.Fprintf(os.Stderr, "tfm: %s\n", s) }}
	defer warnings.Summarize()
	w := bufio.NewWriter(os.Stdout)
	for lines, err := range text.Batches(context.Background(), inputLines(files, read), 256) {
		for _, l := range lines {
			for _, warning := range l.Warnings {
				warnings.Add(warning)
			}
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

// numberedLines is text.ReadLines with line numbers.
func numberedLines(r io.Reader, name string) iter.Seq2[text.Line, error] {
	return func(yield func(text.Line, error) bool) {
		n := 0
		for s, err := range text.ReadLines(r, name) {
			if n++; !yield(text.Line{File: name, Number: n, Text: s}, err) || err != nil {
				return
			}
		}
	}
}

// convert returns the text of a line of ids for -decode, or else the ids or pieces of a line of
// text.
func (v *vocabFlags) convert(tokenizer text.Tokenizer, l text.Line) (string, error) {
	if v.decode {
		ids, err := parseIDs(l, tokenizer.Size())
		return tokenizer.Decode(ids), err
	}
	var fields []string
	for _, id := range tokenizer.Encode(nil, l.Text) {
		if v.pieces {
			fields = append(fields, tokenizer.Piece(id))
		} else {
			fields = append(fields, strconv.Itoa(int(id)))
		}
	}
	return strings.Join(fields, " "), nil
}

// parseIDs parses a line of ids below size.
func parseIDs(l text.Line, size int) (ids []int32, err error) {
	for _, field := range strings.Fields(l.Text) {
		id, err := strconv.Atoi(field)
		if err != nil || id < 0 || id >= size {
			return nil, fmt.Errorf("%s:%d: found %q, expected an id from 0 to %d", l.File, l.Number, field, size-1)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

// train trains a tokenizer on files.
func (v *vocabFlags) train(files []string) error {
	if len(files) == 0 {
		return cli.Usagef("no files to train on")
	}
	if v.size < bpe.MinSize {
		return cli.Usagef("-vocab-size %d: must be at least %d, for 256 bytes and 3 special pieces", v.size, bpe.MinSize)
	}
	if err := cli.CheckOutput(v.out, files...); err != nil {
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
