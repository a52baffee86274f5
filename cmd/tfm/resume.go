package main

import (
	"cmp"
	"flag"
	"fmt"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text/score"
	"tfm/train"
)

// free are the flags that may be others when a run is resumed, because no weight depends on them.
var free = map[string]bool{"steps": true, "time": true, "patience": true, "valid-every": true, "save-every": true,
	"keep": true, "average": true, "on-nan": true, "tensorboard": true, "threads": true, "resume": true}

// takeUp prepares to go on with a run: its settings are those of the newest checkpoint, and a flag that says
// something else is an error if it could change the weights.
func (s *trainSettings) takeUp(given map[string]string) error {
	c, err := train.Newest(s.options.Dir)
	if err != nil {
		return err
	}
	defer c.Close()
	s.resumedFrom, s.resumedStep = c.Path, c.State.Step
	tokens, err := readTokenizers(c.Path)
	if err != nil {
		return err
	}
	for _, f := range [][2]string{{"tokenizer", s.tokenizer}, {"vocab", s.vocab}} {
		name, path := f[0], f[1]
		if path == "" {
			continue
		}
		if same, err := sameTokenizers(tokens, path); err != nil {
			return err
		} else if !same {
			return cli.Usagef("-%s %s conflicts with the run to go on with: %s has another", name, path, c.Path)
		}
	}
	if _, ok := given["vocab-size"]; ok && s.tokenizer == "" && s.options.Init == "" && s.vocabSize < max(c.Config.SrcVocab, c.Config.TgtVocab) {
		return conflict("vocab-size", given["vocab-size"], fmt.Sprint(max(c.Config.SrcVocab, c.Config.TgtVocab)), c.Path)
	}
	c.Options.Dir, c.Options.Resume = s.options.Dir, true
	s.tokens, s.joint, s.config, s.options = &tokens, tokens.Joint(), c.Config, c.Options
	was := cli.Values(s.flags)
	if _, ok := given["preset"]; ok {
		err = s.configure(given)
	} else {
		err = cli.SetAgain(s.flags, given)
	}
	if err != nil {
		return err
	}
	if s.level("joint") < s.jointLevel() {
		s.joint = tokens.Joint()
	}
	if err := s.overrule(); err != nil {
		return err
	}
	s.options.Tokenize = cmp.Or(s.options.Tokenize, c.Options.Tokenize) // auto, which is 0, keeps it
	s.config.SrcVocab, s.config.TgtVocab, s.config.MaxLen = c.Config.SrcVocab, c.Config.TgtVocab, c.Config.MaxLen
	var differs error
	now := cli.Values(s.flags)
	if c.Options.Tokenize == score.Auto { // nothing has been validated yet
		was["tokenize"] = now["tokenize"]
	}
	compare := func(f *flag.Flag) {
		if differs == nil && !free[f.Name] && now[f.Name] != was[f.Name] {
			differs = conflict(f.Name, now[f.Name], was[f.Name], c.Path)
		}
	}
	s.flags.Visit(compare)    // what was given comes before
	s.flags.VisitAll(compare) // what follows from it
	if differs != nil {
		return differs
	}
	if err := settingError(s.options.Validate()); err != nil {
		return err
	}
	return nil
}

func conflict(flag, found, expected, checkpoint string) error {
	return cli.Usagef("-%s %s conflicts with the run to go on with: -%s %s in %s", flag, found, flag, expected, checkpoint)
}

// resumeCommand is the command line that goes on with this run.
func (s *trainSettings) resumeCommand() string {
	words := []string{"tfm", "train"}
	s.flags.Visit(func(f *flag.Flag) {
		if s.typed[f.Name] && f.Name != "resume" && f.Name != "force" {
			words = append(words, shellWord("-"+f.Name+"="+f.Value.String()))
		}
	})
	return strings.Join(append(words, "-resume"), " ")
}

// shellWord quotes s for a shell if it needs that.
func shellWord(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,+@%", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
