package distill

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/text"
	"tfm/text/detect"
)

// Teacher is a model whose translations of a text are learned.
type Teacher struct {
	translator.Model
	Text string // file, one sentence a line
	Beam int

	source string // language of Text, set by Check
}

// Check opens the teacher and returns the languages that it translates, "" if unknown. The text
// must not be empty.
func (t *Teacher) Check() (source, target string, err error) {
	m, err := t.Open()
	if err != nil {
		return "", "", err
	}
	defer m.Close()
	if info, err := os.Stat(t.Text); err == nil && info.Size() == 0 {
		return "", "", fmt.Errorf("%s is empty, expected sentences to translate", t.Text)
	}
	c := m.Config()
	source, target = m.Tags("", "")
	t.source = source
	return source, target, cmp.Or(
		cli.UsageIf(c.TgtLanguages != "" && t.To+target == "" || c.SrcLanguages != "" && t.From+source == "", "%s is a model of several languages: name them with -from and -to", t.Path),
		cli.UsageIf(strings.HasSuffix(t.Text, ".gz"), "%s is gzipped, expected a plain file, which is translated in parts", t.Text),
	)
}

// majority returns the language of the first lines of the text.
func (t *Teacher) majority() detect.Majority {
	const lines = 500
	return detect.Default().Majority(func(yield func(string) bool) {
		n := 0
		for l, err := range text.Lines(t.Text) {
			if n++; err != nil || n > lines || !yield(l) {
				return
			}
		}
	})
}

// shardBytes is the size of the text that the teacher translates at a time, about 10,000 words, so
// that an interruption loses little.
const shardBytes = 64 << 10

// Shards returns the files of the teacher's translations.
func (w *Work) Shards(t Teacher) ([]string, error) {
	info, err := os.Stat(t.Text)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 1+info.Size()/shardBytes)
	for i := range paths {
		paths[i] = w.File(fmt.Sprintf("teacher/%06d", i+1))
	}
	return paths, nil
}

// Translate makes the teacher's translations. Each shard has a record of its own.
func (w *Work) Translate(ctx context.Context, t Teacher) error {
	paths, err := w.Shards(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.File("teacher"), 0o777); err != nil {
		return err
	}
	args := []string{"-model", t.Path, "-beam", strconv.Itoa(t.Beam), "-scores"}
	if t.Int8 {
		args = append(args, "-int8")
	}
	for _, language := range [][2]string{{"-from", t.From}, {"-to", t.To}} {
		if language[1] != "" {
			args = append(args, language[0], language[1])
		}
	}
	w.Progress.Line("1/6 translate with the teacher")
	if m := t.majority(); m.Differs(t.source) {
		w.Progress.Line("  warning: %s translates from %s, but %s looks like %s (%d of %d lines)", t.Path, t.source, t.Text, m.Lang, m.N, m.Of)
	}
	w.Progress.Line("  tfm translate %s %s", shellWords(args), cli.ShellWord(t.Text))
	start, before := time.Now(), stamp(paths...)
	for i, path := range paths {
		shard := slices.Concat(args, w.threadsArgs(), []string{"-shard", fmt.Sprintf("%d/%d", i+1, len(paths)), "-o", path, t.Text})
		if err := w.Program(ctx, "translate", shard...); err != nil {
			return err
		}
		left := time.Since(start) / time.Duration(i+1) * time.Duration(len(paths)-i-1)
		w.Progress.Update(time.Now(), fmt.Sprintf("part %s of %s, %v left", format.Thousands(i+1), format.Thousands(len(paths)), left.Round(time.Second)))
	}
	w.Progress.Clear()
	if stamp(paths...) == before {
		w.Progress.Line("  done before")
	}
	return nil
}

// Write writes translations as lines of two files, without the given share of those with the lowest
// scores.
func (w *Work) Write(s Stage, translations iter.Seq2[Translation, error], worst float64) error {
	s.Name, s.Args = "choose", []string{fmt.Sprint(worst)}
	return w.Once(s, func(bool) error {
		return filter.WriteFiles(w.Dir(), s.Outputs, func(files []io.Writer) error {
			all, written, err := writePairs(translations, worst, files[0], files[1])
			if err == nil {
				w.Progress.Line("  %s of %s", format.Thousands(written), format.Count(all, "pair"))
			}
			return err
		})
	})
}

// Clean drops faulty pairs.
func (w *Work) Clean(ctx context.Context, pairs, cleaned []string) error {
	return w.Command(ctx, Stage{Title: "3/6 drop faulty pairs", Name: "clean", Inputs: pairs, Outputs: cleaned, Args: append(PairsArgs(pairs), "-o", filepath.Dir(cleaned[0]))})
}
