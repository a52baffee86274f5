package main

import (
	"flag"
	"fmt"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/internal/format"
	"tfm/model"
	"tfm/text/vocab"
)

// trainedBefore is the model whose weights a training begins with.
type trainedBefore struct {
	path   string
	model  *model.Transformer
	tokens vocab.Pair
}

// retrainable are the flags of a configuration that may be others than those that a model was trained with before.
var retrainable = map[string]bool{"dropout": true, "attention-dropout": true, "ff-dropout": true, "label-smoothing": true, "smoothing-over": true}

// beginWith prepares to begin with the weights, configuration and tokenizers of a model file; -vocab may name other tokenizers.
func (s *trainSettings) beginWith(path string, given map[string]string) error {
	file, err := model.Load(path, false)
	if err != nil {
		return fmt.Errorf("-init is neither xavier nor pytorch nor a model: %w", err)
	}
	t, err := tokenizersOf(path, file.Tokenizers, file.Model.Config)
	if err != nil {
		return err
	}
	s.from = &trainedBefore{path, file.Model, t}
	if s.vocab != "" {
		path = s.vocab
		if t, err = readTokenizers(path); err != nil {
			return err
		}
	}
	if _, ok := given["preset"]; !ok {
		s.preset = presetLike(file.Model.Config, s.preset)
	}
	return s.take(t, path)
}

// presetLike is the preset whose model is as large as c, for the settings of a training that suit it; another one if there is none.
func presetLike(c model.Config, other string) string {
	size := func(c model.Config) [5]int {
		return [5]int{c.DModel, c.Heads, c.DFF, c.EncoderLayers, c.DecoderLayers}
	}
	for _, name := range model.PresetNames() {
		if p, err := model.Preset(name); err == nil && size(p) == size(c) {
			return name
		}
	}
	return other
}

// fitsBefore is an error if the configuration is not that of the model of -init, but for what may change.
func (s *trainSettings) fitsBefore(given map[string]string) error {
	if s.from == nil {
		return nil
	}
	now, before := s.config, s.from.model.Config
	if before.Tie == model.TieAll && !s.joint {
		before.Tie = model.TieDecoder // what was one matrix becomes two, equal at first
	}
	var differs error
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	var shown model.Config
	configFlags(flags, &shown)
	shown = now
	of := cli.Values(flags)
	shown = before
	for _, first := range []bool{true, false} { // what was given comes before what follows from it
		flags.VisitAll(func(f *flag.Flag) {
			_, ok := given[f.Name]
			if was := f.Value.String(); ok == first && differs == nil && !retrainable[f.Name] && of[f.Name] != was {
				differs = cli.Usagef("-%s %s conflicts with the model to begin with: -%s %s in %s", f.Name, of[f.Name], f.Name, was, s.from.path)
			}
		})
	}
	if differs != nil {
		return differs
	}
	s.config.MaxLen = max(s.config.MaxLen, before.MaxLen)
	if before.Positions == model.Learned {
		if _, ok := given["max-len"]; !ok {
			s.options.MaxLen = min(s.options.MaxLen, before.MaxLen-1)
		}
		if s.options.MaxLen >= before.MaxLen {
			return cli.Usagef("-max-len %d: at most %d, as the learned positions of %s reach no further", s.options.MaxLen, before.MaxLen-1, s.from.path)
		}
		s.config.MaxLen = before.MaxLen
	}
	return nil
}

// carryOver gives m the weights of the model to begin with, and tells how many pieces it knows.
func (t *training) carryOver(m *model.Transformer) error {
	from := t.from
	t.from = nil // not needed any more, and large
	src, err := vocab.In(t.tokens.Source, from.tokens.Source)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	tgt, err := vocab.In(t.tokens.Target, from.tokens.Target)
	if err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	if err := m.CarryOver(from.model, src, tgt); err != nil {
		return fmt.Errorf("%s: %w", from.path, err)
	}
	t.progress.Line("begins with:      the weights of %s", from.path)
	if t.tokens.Joint() && from.tokens.Joint() {
		t.progress.Line("pieces:           %s", known(src))
	} else {
		t.progress.Line("source pieces:    %s", known(src))
		t.progress.Line("target pieces:    %s", known(tgt))
	}
	return nil
}

// known tells how many pieces of a vocabulary were in the one before.
func known(pieces [][]int32) string {
	same := 0
	for _, was := range pieces {
		if len(was) == 1 {
			same++
		}
	}
	if same == len(pieces) {
		return fmt.Sprintf("all %s carried over", format.Thousands(same))
	}
	return fmt.Sprintf("%s of %s carried over; a new one begins as the mean of the pieces that it was before", format.Thousands(same), format.Thousands(len(pieces)))
}

// initValue is the flag -init: the name of a way to draw the first weights, or a file that has them.
type initValue struct {
	start *model.Start
	file  *string
}

func (v initValue) String() string {
	if *v.file != "" {
		return *v.file
	}
	text, _ := v.start.MarshalText()
	return string(text)
}

func (v initValue) Set(s string) error {
	err := v.start.UnmarshalText([]byte(s))
	switch {
	case err == nil:
		*v.file = ""
	case strings.TrimSpace(s) == "":
		return err
	default:
		*v.file = s
	}
	return nil
}
