package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/translator"
	"tfm/text"
	"tfm/text/tokenizer/subword"
)

func vocabCommand(f *cli.Flags) cli.Action {
	var v vocabFlags
	f.StringVar(&v.out, "o", "", "`file` to write the trained tokenizer to")
	f.IntVar(&v.size, "vocab-size", 8000, "number of pieces, including 256 bytes and 3 special ones")
	f.StringVar(&v.vocab, "vocab", "", "`file` written by 'tfm vocab' or sentencepiece, or a model, or CODES,VOCABULARY of subword-nmt: the tokenizer to apply")
	f.StringVar(&v.side, "side", "source", "tokenizer of a model with two: source or target").Choices("source", "target")
	f.BoolVar(&v.show, "show", false, "print each id with its piece")
	f.BoolVar(&v.encode, "encode", false, "print the ids of each line of the files, or of standard input")
	f.BoolVar(&v.pieces, "pieces", false, "print the pieces of each line")
	f.BoolVar(&v.decode, "decode", false, "print the text of each line of ids")
	f.StringVar(&v.modelType, "model-type", "byte-bpe", "kind of tokenizer to train:\n"+
		"  byte-bpe  byte-pair encoding of bytes\n"+
		"  unigram   unigram language model, a .model file of sentencepiece").Choices("byte-bpe", "unigram")
	v.sentencePiece.AddFlags(f)
	return v.run
}

// vocabFlags are the flags of the command.
type vocabFlags struct {
	out, vocab, side             string
	modelType                    string
	size                         int
	show, encode, pieces, decode bool
	sentencePiece                tokenizers.SentencePiece
}

func (v *vocabFlags) run(ctx context.Context, args []string) error {
	actions := slices.DeleteFunc([]bool{v.out != "", v.show, v.encode, v.pieces, v.decode}, func(on bool) bool { return !on })
	byteBPE := v.modelType == "byte-bpe"
	err := cmp.Or(
		cli.UsageIf(len(actions) != 1, "expected one of -o, -show, -encode, -pieces and -decode"),
		cli.UsageIf(v.out != "" && v.vocab != "", "-o trains a tokenizer and -vocab applies one: expected one of them"),
		cli.UsageIf(!byteBPE && v.out == "", "-model-type needs -o"),
	)
	if err == nil && byteBPE {
		err = v.sentencePiece.CheckUnused()
	}
	switch {
	case err != nil:
		return err
	case v.out != "":
		return v.train(args)
	case v.vocab == "":
		return cli.Usagef("-vocab is missing")
	case v.show:
		if err := cli.NoArguments(args); err != nil {
			return err
		}
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
		return showPieces(tokenizer)
	}
	files, err := translator.Inputs(args)
	if err != nil {
		return err
	}
	return v.apply(ctx, tokenizer, files)
}

// train trains a tokenizer on files.
func (v *vocabFlags) train(files []string) error {
	if len(files) == 0 {
		return cli.Usagef("no files to train on")
	}
	if _, err := translator.Inputs(files); err != nil {
		return err
	}
	if v.modelType == "unigram" {
		return v.sentencePiece.Train(v.out, v.size, files)
	}
	return tokenizers.Train(v.out, v.size, files)
}

// showPieces prints the vocabulary.
func showPieces(tokenizer text.Tokenizer) error {
	w := bufio.NewWriter(os.Stdout)
	ids := printedIDs(tokenizer)
	for id := range ids.size {
		fmt.Fprintf(w, "%d\t%s\n", id, tokenizer.Piece(ids.parse(int32(id))))
	}
	return w.Flush()
}

// idNumbering is how the command numbers the ids of a tokenizer.
type idNumbering struct {
	size          int
	print, parse  func(int32) int32
	unchangedText bool // lines of text are encoded without repairs
}

// printedIDs returns the numbering of the tokenizer's file if it has its own, as sentencepiece's.
func printedIDs(tokenizer text.Tokenizer) idNumbering {
	type fileIDs interface {
		FileSize() int
		FileID(int32) int32
		FromFileID(int32) int32
	}
	if t, ok := tokenizer.(fileIDs); ok {
		return idNumbering{t.FileSize(), t.FileID, t.FromFileID, true}
	}
	same := func(id int32) int32 { return id }
	return idNumbering{tokenizer.Size(), same, same, false}
}

// apply converts the lines of files and prints them as they arrive.
func (v *vocabFlags) apply(ctx context.Context, tokenizer text.Tokenizer, files []string) error {
	read := text.RepairLines
	switch {
	case v.decode:
		read = numberedLines // a truncated line of ids would lose text
	case printedIDs(tokenizer).unchangedText:
		read = unchangedLines
	}
	warnings := text.Warnings{Show: func(s string) { fmt.Fprintf(os.Stderr, "tfm: %s\n", s) }}
	defer warnings.Summarize()
	w := bufio.NewWriter(os.Stdout)
	for lines, err := range text.Batches(ctx, translator.Lines(files, read), 256) {
		for _, l := range lines {
			for _, warning := range l.Warnings {
				warnings.Add(warning)
			}
			var converted string
			if converted, err = v.convert(tokenizer, printedIDs(tokenizer), l); err != nil {
				break
			}
			converted, _ = text.OneLine(converted)
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

// unchangedLines yields the lines of r, which end with LF, byte by byte.
func unchangedLines(r io.Reader, name string) iter.Seq2[text.Line, error] {
	return func(yield func(text.Line, error) bool) {
		lines := bufio.NewReader(r)
		for n := 1; ; n++ {
			s, err := lines.ReadString('\n')
			switch {
			case err == io.EOF && s == "":
				return
			case err == io.EOF:
				err = nil
			case err != nil:
				err = fmt.Errorf("%s:%d: %w", name, n, err)
			}
			if !yield(text.Line{File: name, Number: n, Text: strings.TrimSuffix(s, "\n")}, err) || err != nil {
				return
			}
		}
	}
}

// convert returns the text of a line of ids for -decode, or else the ids or pieces of a line of
// text.
func (v *vocabFlags) convert(tokenizer text.Tokenizer, numbering idNumbering, l text.Line) (string, error) {
	if v.decode {
		ids, err := parseIDs(l, numbering.size)
		for i, id := range ids {
			ids[i] = numbering.parse(id)
		}
		return tokenizer.Decode(ids), err
	}
	if t, ok := tokenizer.(*subword.Tokenizer); ok && v.pieces {
		return t.Segment(l.Text), nil
	}
	var fields []string
	for _, id := range tokenizer.Encode(nil, l.Text) {
		if v.pieces {
			fields = append(fields, tokenizer.Piece(id))
		} else {
			fields = append(fields, strconv.Itoa(int(numbering.print(id))))
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
