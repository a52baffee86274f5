package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model/decode"
	"tfm/text"
	"tfm/train"
	"tfm/translate"
)

func translateCommand() cli.Command {
	return cli.Command{
		Name: "translate",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			search := settings.SearchFlags(f, decode.DefaultOptions().Beam)
			f.IntVar(&search.NBest, "nbest", 0, "list the N best translations of each line with their scores; limit -beam, or 64 with -sample")
			f.Group("Input")
			form := filter.Flags(f)
			sentences := filter.SplitFlags(f)
			batch := f.Int("batch", 256, "limit of the lines that are translated at the same time")
			maxLen := f.Int("max-len", 0, "limit of source tokens; a longer line is truncated with a warning; 0 is the model's limit")
			f.Group("Output")
			answer := filter.AnswerFlags(f)
			f.Bool("progress", false, "show lines, speed and remaining time; on by default for files on a terminal, if the output goes elsewhere")
			stream := f.Bool("stream", false, "write each translation while it is made, as far as it cannot change; one line at a time")
			f.Group("Constraints")
			prefixes, terms := filter.PrefixFlags(f), filter.TermFlags(f)
			settings.ConstraintFlags(f, search)
			f.Group("Sampling")
			f.BoolVar(&search.Sample, "sample", false, "draw translations at random, without a beam")
			f.Float64Var(&search.Temperature, "temperature", search.Temperature, "divisor of the logits; below 1 favours probable tokens")
			f.IntVar(&search.TopK, "top-k", search.TopK, "draw from the N most probable tokens; 0 is all")
			f.Float64Var(&search.TopP, "top-p", search.TopP, "draw from the most probable tokens with this total probability; 1 is all")
			f.Uint64Var(&search.Seed, "seed", search.Seed, "random seed of the draws")
			f.Group("Machine")
			int8, useList := int8Flag(f), shortlistFlag(f)
			var threads int
			cli.ThreadsFlag(f, &threads)
			return func(ctx context.Context, args []string) error {
				if *batch < 1 || *batch > 1<<20 {
					return cli.Usagef("-batch %d: must be 1 to %d", *batch, 1<<20)
				}
				if *maxLen < 0 {
					return cli.Usagef("-max-len %d: must be at least 0", *maxLen)
				}
				answer.NBest = search.NBest > 0
				if answer.Alternatives < 0 || answer.Alternatives > 64 {
					return cli.Usagef("-alternatives %d: must be 0 to 64", answer.Alternatives)
				}
				if err := sentences.Check(f.Given()); err != nil {
					return err
				}
				form.Breaks, answer.Split = sentences.Paragraphs, sentences.On
				format, err := form.Format(answer)
				if err != nil {
					return err
				}
				if form.Key != "" && !search.Sample && !answer.NBest {
					return cli.Usagef("-key needs -sample or -nbest")
				}
				if err := sampleOrSearch(*search, f.Given()); err != nil {
					return err
				}
				if err := settings.CheckSearch(*search); err != nil {
					return err
				}
				if *stream {
					if err := filter.CheckStream(f.Given()); err != nil {
						return err
					}
				}
				t, err := openModel(*path, translate.Options{Threads: threads, Int8: *int8})
				if err != nil {
					return err
				}
				defer t.Close()
				settings.UseModelPenalty(search, f.Given(), t.DefaultOptions())
				if *useList {
					if err := useShortlist(search, t, *path); err != nil {
						return err
					}
				}
				warnings := lineWarnings{remedy: trainLonger}
				if *maxLen > 0 && *maxLen < t.MaxSource() {
					warnings.remedy = "give a larger -max-len"
				}
				answers := answerWriter{format: format, progress: filter.NewProgress(args, f.Given()["progress"]), warnings: &warnings}
				warnings.Show = func(s string) { answers.progress.Screen.Line("tfm: %s", s) }
				search.TokenScores, search.Alternatives = answer.TokenScores, answer.Alternatives
				answer.TokenText = t.Tokenizers().Target.Bytes
				o := translate.LineOptions{Request: translate.Request{Decode: *search, MaxSource: *maxLen}, Batch: *batch, Warn: warnings.Add}
				o.Text = func(l text.Line) string { s, _, _ := format.Parse(l.Text); return s }
				o.Attention, o.Tokens = answer.Align != "", answer.NeedsTokens()
				if form.Key != "" {
					o.Number = func(l text.Line) uint64 { _, key, _ := format.Parse(l.Text); return filter.Number(key) }
				}
				if err := terms.Apply(&o, t); err != nil {
					return err
				}
				sentences.Apply(&o)
				o.Decode.NoScore = !answer.Scores && !answer.NBest // for greedy search
				done, err := prefixes.Apply(&o)
				if err != nil {
					return err
				}
				lines := inputLines(args, text.RepairLines)
				if sentences.Paragraphs && !form.JSON {
					lines = filter.JoinParagraphs(lines)
				}
				if *stream {
					p := newPrompt(args)
					err = filter.Stream(ctx, os.Stdout, t, lines, o, func() { p.show("> ") })
					p.show("\n")
					warnings.Summarize()
				} else {
					err = answers.write(os.Stdout, t.Lines(ctx, lines, o), newPrompt(args))
				}
				return cmp.Or(err, done())
			}
		},
	}
}

// modelFlag declares -model of a command that translates.
func modelFlag(f *cli.Flags) *string {
	return f.String("model", settings.DefaultModel, "model `file`")
}

// int8Flag declares -int8 of a command that translates.
func int8Flag(f *cli.Flags) *bool {
	return f.Bool("int8", false, "round the weights to 8 bits, as 'tfm quantize' does: faster, and a few translations differ")
}

// openModel opens the model at path. It reports invalid threads and what checkModel finds.
func openModel(path string, o translate.Options) (*translate.Translator, error) {
	if err := cli.CheckThreads(o.Threads); err != nil {
		return nil, err
	}
	if err := checkModel(path); err != nil {
		return nil, err
	}
	return translate.Open(path, o)
}

// checkModel reports a missing model file, or a folder of checkpoints in its place, and how to get
// one.
func checkModel(path string) error {
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		dir := strings.TrimSuffix(path, ".safetensors") + ".ckpt"
		if checkpoints, err := train.Checkpoints(dir); err == nil && len(checkpoints) > 0 {
			return fmt.Errorf("%s does not exist, because its run has not ended: resume it with 'tfm train … -resume', or use -model %s", path, cli.ShellWord(checkpoints[len(checkpoints)-1]))
		}
	case err == nil && info.IsDir():
		if checkpoints, err := train.Checkpoints(path); err == nil && len(checkpoints) > 0 {
			return fmt.Errorf("%s is a folder of checkpoints: use one, such as -model %s", path, cli.ShellWord(checkpoints[len(checkpoints)-1]))
		}
	}
	if missing {
		return fmt.Errorf("%s does not exist: make it with 'tfm train -o %s', or name a model with -model", path, cli.ShellWord(path))
	}
	return nil
}

// lineWarnings shows warnings about lines and their results. Of truncated lines, and of truncated
// translations, it shows the first and at the end their number.
type lineWarnings struct {
	text.Warnings
	remedy       string // of truncated lines, in addition to shorter sentences
	lines        int    // truncated
	translations int    // truncated
}

// trainLonger is the remedy for sentences that exceed the limit of the model.
const trainLonger = "train a model with a larger -max-len"

func (w *lineWarnings) Add(warning text.Warning) {
	switch warning.Kind {
	case translate.TruncatedLine:
		if w.lines++; w.lines == 1 {
			w.Show(fmt.Sprintf("%s; put shorter sentences on separate lines, or %s", warning.Message, w.remedy))
		}
	case translate.TruncatedTranslation:
		if w.translations++; w.translations == 1 {
			w.Show(warning.Message)
		}
	default:
		w.Warnings.Add(warning)
	}
}

func (w *lineWarnings) Summarize() {
	w.Warnings.Summarize()
	if w.lines > 1 {
		w.Show(format.Thousands(w.lines) + " lines were truncated")
	}
	if w.translations > 1 {
		w.Show(format.Thousands(w.translations) + " translations reached their length limit before their end")
	}
}

// inputLines reads the lines of files, or of standard input without files.
func inputLines(files []string, read func(r io.Reader, name string) iter.Seq2[text.Line, error]) iter.Seq2[text.Line, error] {
	if len(files) == 0 {
		return read(os.Stdin, "standard input")
	}
	return func(yield func(text.Line, error) bool) {
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				yield(text.Line{}, err)
				return
			}
			for l, err := range read(f, name) {
				if !yield(l, err) || err != nil {
					f.Close()
					return
				}
			}
			f.Close()
		}
	}
}

// prompt prints a prompt for each line, and the end of the last. It prints nothing unless standard
// input is a terminal.
type prompt bool

func newPrompt(files []string) prompt {
	p := prompt(len(files) == 0 && terminal.IsTerminal(os.Stdin))
	if p {
		fmt.Fprintln(os.Stderr, "Type a sentence; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
	}
	return p
}

func (p prompt) show(s string) {
	if p {
		fmt.Fprint(os.Stderr, s)
	}
}

// answerWriter writes the lines of a file or stream with their answers.
type answerWriter struct {
	format   filter.Format
	progress *filter.Progress
	warnings *lineWarnings
	lines    int
	failed   int // lines without answer
}

// write writes each translated line at once. After all lines, the error is that of answers
// or that there are lines without an answer.
func (a *answerWriter) write(out io.Writer, answers iter.Seq2[[]translate.Line, error], p prompt) error {
	err := a.writeLines(out, answers, p)
	p.show("\n")
	a.progress.Screen.Clear()
	a.warnings.Summarize()
	if err != nil {
		return err
	}
	a.progress.End()
	return filter.Failed(a.failed, a.lines)
}

func (a *answerWriter) writeLines(out io.Writer, answers iter.Seq2[[]translate.Line, error], p prompt) error {
	w := bufio.NewWriter(out)
	p.show("> ")
	for lines, err := range answers {
		for i := range lines {
			a.add(w, &lines[i])
		}
		if e := w.Flush(); e != nil {
			return e
		}
		if err != nil {
			return err
		}
		a.progress.Update()
		p.show("> ")
	}
	return nil
}

// add writes a line and its answer.
func (a *answerWriter) add(w io.Writer, l *translate.Line) {
	_, _, err := a.format.Parse(l.Text)
	err = cmp.Or(err, filter.Failure(&l.Result))
	if err != nil {
		warning := l.Warning(filter.FailedLine, "%v", err)
		err = errors.New(warning.Message)
		a.warnings.Add(warning)
		a.failed++
	}
	a.format.Write(w, a.lines, l.Text, &l.Result, err)
	a.lines++
	a.progress.Add(l.Text)
}

// sampleOrSearch reports a flag of beam search given for sampling, or the reverse.
func sampleOrSearch(s decode.Options, given map[string]string) error {
	if _, beam := given["beam"]; beam && s.Sample {
		return cli.Usagef("either -beam or -sample")
	}
	for _, name := range []string{"temperature", "top-k", "top-p", "seed"} {
		if _, ok := given[name]; ok && !s.Sample {
			return cli.Usagef("-%s needs -sample", name)
		}
	}
	return nil
}
