package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/shard"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/translator"
	"tfm/lang"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
	"tfm/translate"
)

// translateCommand declares the flags in the order of the help.
func translateCommand(f *cli.Flags) cli.Action {
	c := translation{given: f.Given, checkModes: f.CheckModes}
	c.model.PathFlag(f)
	c.model.LanguageFlags(f)
	c.search = settings.SearchFlags(f, decode.DefaultOptions().Beam)
	f.IntVar(&c.maxSource, "max-source", 0, "limit of source tokens; a longer line is truncated with a warning; 0 is the model's limit").Range(0, math.MaxInt32).Setting()
	f.Group("Input")
	f.Modes(inLines, inFile)
	c.form = filter.Flags(f)
	c.tags = filter.TagFlags(f)
	f.IntVar(&c.batch, "batch", 256, "limit of the lines that are translated at the same time").Range(1, 1<<20).Setting()
	f.Modes(inLines, inFile, inStream)
	c.sentences = filter.SplitFlags(f)
	f.Group("Documents")
	c.documents = translator.DocumentFlags(f)
	f.Group("Output")
	f.Modes()
	f.StringVar(&c.out, "o", "", "`file` to write to in place of standard output, whole or not at all, gzipped if it ends in .gz, with a record in FILE.done that spares a further run")
	f.Modes(inLines, inFile)
	f.IntVar(&c.search.NBest, "nbest", 0, "list the N best translations of each line with their scores; limit -beam, or 64 with -sample")
	c.answer = filter.AnswerFlags(f)
	f.Modes(inLines, inFile, inDocuments)
	f.BoolVar(&c.progress, "progress", false, "show lines, speed and remaining time; on by default for files on a terminal, if the output goes elsewhere")
	f.Modes(inStream)
	f.BoolVar(&c.stream, "stream", false, "write each translation while it is made, as far as it cannot change; one line at a time")
	f.Group("Shards")
	c.shard = shard.DeclareFlags(f)
	f.Group("Constraints")
	f.Modes(inLines, inFile, inStream)
	c.prefix = filter.PrefixFlag(f)
	f.BoolVar(&c.protect, "protect", false, "copy placeholders, tags, URLs, addresses, names of files, versions, hashes, @user, #tag and emoji").Not("alternatives")
	f.Modes()
	c.glossary, c.memory = filter.GlossaryFlag(f), filter.MemoryFlags(f)
	settings.ConstraintFlags(f, c.search)
	f.Group("Sampling")
	f.Modes(inLines, inFile, inStream)
	f.BoolVar(&c.search.Sample, "sample", false, "draw translations at random, without a beam").Not("beam")
	f.Float64Var(&c.search.Temperature, "temperature", c.search.Temperature, "divisor of the logits; below 1 favours probable tokens").Needs("sample").Setting()
	f.IntVar(&c.search.TopK, "top-k", c.search.TopK, "draw from the N most probable tokens; 0 is all").Needs("sample").Setting()
	f.Float64Var(&c.search.TopP, "top-p", c.search.TopP, "draw from the most probable tokens with this total probability; 1 is all").Needs("sample").Setting()
	f.Uint64Var(&c.search.Seed, "seed", c.search.Seed, "random seed of the draws").Needs("sample")
	f.Group("Machine")
	f.Modes()
	c.model.Int8Flag(f)
	c.model.ShortlistFlag(f)
	cli.ThreadsFlag(f, &c.model.Threads)
	for _, name := range []string{"model", "to", "o", "beam", "nbest", "scores", "column", "json", "split", "int8"} {
		f.Lookup(name).Common()
	}
	return c.run
}

// The modes of the command, by the flags that select them. A flag is declared for those in which it
// applies.
const (
	inLines     = ""       // lines to standard output or a device
	inFile      = "o"      // lines to a file, with a record
	inStream    = "stream" // lines, each while it is made
	inDocuments = "file"
)

// mode returns the mode that the flags select.
func (c *translation) mode() string {
	switch {
	case c.documents.File != "":
		return inDocuments
	case c.stream:
		return inStream
	case c.out != "" && !cli.IsDevice(c.out):
		return inFile
	}
	return inLines
}

// translation is the command with its flags. A new flag is a field here and a line in
// translateCommand, in the modes in which it applies, and if some values are wrong a line in check;
// options makes the request of the flags.
type translation struct {
	given      func() map[string]string // flags of the command line
	checkModes func(mode string) error

	model     translator.Model
	search    *decode.Options
	form      *filter.Options
	sentences *filter.Split
	tags      *filter.Tags
	batch     int
	maxSource int
	out       string
	answer    *filter.Answer
	progress  bool
	stream    bool
	prefix    *filter.Prefix
	glossary  *filter.Glossary
	memory    *filter.Memory
	protect   bool
	documents *translator.Documents
	shard     *shard.Flags

	// oneSentence is the flag that keeps lines of several sentences from being split, or "".
	oneSentence string
}

// check returns the form of input and output. It reports flags that do not go together.
func (c *translation) check() (filter.Format, error) {
	given := c.given()
	file, hasFile := given["file"]
	out, hasOut := given["o"]
	if err := cmp.Or(
		cli.UsageIf(hasFile && file == "", "-file is empty"),
		cli.UsageIf(hasOut && out == "", "-o is empty"),
		c.checkModes(c.mode()),
		cli.UsageIf(c.sentences.Paragraphs && c.form.Column != "" && !c.form.JSON, "either -paragraphs or -column"),
		settings.Error(c.search.Validate()),
		c.documents.Check(),
		c.memory.Check(),
		cli.UsageIf(c.stream && out != "" && !cli.IsDevice(out), "either -stream or -o, whose file is whole or not there"),
	); err != nil {
		return nil, err
	}
	c.answer.NBest, c.answer.Memory = c.search.NBest > 0, c.memory.File != ""
	c.answer.Adapt, c.model.Keep = c.memory.Adapt > 0, c.memory.Adapt > 0
	c.form.Breaks, c.answer.Split = c.sentences.Paragraphs, c.sentences.On
	return c.form.Format(c.answer)
}

func (c *translation) run(ctx context.Context, args []string) (err error) {
	format, err := c.check()
	if err != nil {
		return err
	}
	mode := c.mode()
	if mode == inDocuments {
		return c.translateDocuments(ctx, args, format)
	}
	files, err := translator.Inputs(args, c.glossary.File, c.memory.File)
	if err != nil {
		return err
	}
	if mode == inFile {
		return cli.MayRetry(c.translateShard(ctx, files, format))
	}
	out := os.Stdout
	if c.out != "" {
		if out, err = os.Create(c.out); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, out.Close()) }()
	}
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	answers, err := c.translateLines(ctx, t, format, files, translator.Lines(files, text.RepairLines), out)
	if err != nil {
		return err
	}
	return withoutAnswer(answers.failed, answers.lines)
}

// withoutAnswer returns the error of a number of lines without an answer.
func withoutAnswer(failed, lines int) error {
	return filter.Failed(failed, lines, "line", "translated")
}

// unrecorded are the flags that no output depends on.
var unrecorded = []string{"o", "model", "threads", "batch", "progress", "verify", "expect", "any-bits", "shard", "glossary", "memory"}

// translateShard translates files to that of -o, whole or not at all, with a record.
func (c *translation) translateShard(ctx context.Context, files []string, format filter.Format) (err error) {
	ctx, stop := cli.Interruptible(ctx) // so that no temporary file remains
	defer stop()
	others := []string{c.model.Path}
	for _, path := range []string{c.glossary.File, c.memory.File} {
		if path != "" {
			others = append(others, path)
		}
	}
	if err := cmp.Or(
		c.shard.Check(files, c.search.Sample && c.form.Key == ""),
		cli.CheckOutput(c.out, slices.Concat(others, files)...),
		c.shard.CheckBits(),
	); err != nil {
		return err
	}
	s := shard.Shard{Out: c.out, Inputs: files, Part: c.shard.Part, Files: others, Options: c.given(), Verify: c.shard.Verify, Expect: c.shard.Expect}
	for _, name := range unrecorded {
		delete(s.Options, name)
	}
	done, ok, err := s.Done()
	if err != nil {
		return err
	}
	if ok {
		return withoutAnswer(done.Failed, done.LinesOut)
	}
	var failed error
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	err = s.Write(release.Current().String(), func(w io.Writer) (n shard.Counts, err error) {
		lines := translator.LinesOf(files, s.Open, text.RepairLines)
		counted := func(yield func(text.Line, error) bool) {
			for l, err := range lines {
				if err == nil {
					n.LinesIn++
				}
				if !yield(l, err) {
					return
				}
			}
		}
		answers, err := c.translateLines(ctx, t, format, files, counted, w)
		if err = cmp.Or(cli.Interruption(ctx), err); err != nil {
			return n, err
		}
		n.LinesOut, n.Failed, n.Warnings = answers.lines, answers.failed, answers.warnings.Counts()
		failed = withoutAnswer(n.Failed, n.LinesOut)
		return n, nil
	})
	if cli.Interruption(ctx) != nil {
		terminal.NewProgress(os.Stderr).Text("interrupted: %s is not written", c.out)
	}
	return cmp.Or(err, failed)
}

// translateLines translates lines of files to w.
func (c *translation) translateLines(ctx context.Context, t *translate.Translator, format filter.Format, files []string, lines iter.Seq2[text.Line, error], w io.Writer) (*answerWriter, error) {
	o, err := c.options(t, format)
	if err != nil {
		return nil, err
	}
	out, _ := w.(*os.File)
	sized := files
	if c.shard.Part.N > 0 {
		sized = nil // the size of a part is not that of its file
	}
	answers := &answerWriter{format: format, oneSentence: c.oneSentence, progress: filter.NewProgress("line", filter.TextSize(sized), out, c.given()["progress"])}
	answers.warnings.Show = func(s string) { answers.progress.Screen.Line("tfm: %s", s) }
	if c.maxSource > 0 && c.maxSource < t.MaxSource() {
		answers.warnings.Remedy = "give a larger max-source"
	}
	o.Warn = answers.warnings.Add
	if c.sentences.Paragraphs && !c.form.JSON {
		lines = filter.JoinParagraphs(lines)
	}
	prompt := newPrompt(files)
	if c.stream {
		err = filter.Stream(ctx, w, t, lines, o, func() { prompt("> ") })
		prompt("\n")
		answers.warnings.Summarize()
	} else {
		err = answers.write(w, t.Lines(ctx, lines, o), prompt)
	}
	return answers, translator.LanguageError(err)
}

// translateDocuments translates the document of -file, and those that args name.
func (c *translation) translateDocuments(ctx context.Context, args []string, format filter.Format) error {
	ctx, stop := cli.Interruptible(ctx) // so that no temporary file remains
	defer stop()
	files, err := translator.Inputs(append([]string{c.documents.File}, args...), c.glossary.File, c.memory.File)
	if err != nil {
		return err
	}
	job := translator.DocumentJob{Documents: c.documents, Inputs: files, Out: c.out, Progress: c.given()["progress"]}
	if err := job.Check(c.model.Path, c.glossary.File, c.memory.File); err != nil {
		return err
	}
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	o, err := c.options(t, format)
	if err != nil {
		return err
	}
	from, to := t.Languages()
	job.From, job.To = cmp.Or(from, lang.Of(c.model.From)), cmp.Or(to, lang.Of(c.model.To))
	o.From, o.To, o.Split, o.KeepOf = c.model.From, c.model.To, new(split.Options), func(_ int, s string) []text.Range { return markup.Protected(s) }
	job.Translate = func(texts []markup.Text) ([]markup.Text, error) { return t.Marked(ctx, o.Request, texts) }
	err = translator.LanguageError(job.Run())
	return cmp.Or(cli.Interruption(ctx), err)
}

// options returns the request that the flags make of t, the open model.
func (c *translation) options(t *translate.Translator, format filter.Format) (o translate.LineOptions, err error) {
	if err := c.model.Search(c.search, c.given(), t); err != nil {
		return o, err
	}
	c.search.TokenScores, c.search.Alternatives = c.answer.TokenScores, c.answer.Alternatives
	c.search.NoScore = !c.answer.Scores && !c.answer.NBest // for greedy search
	c.answer.TokenText = t.Tokenizers().Target.Bytes
	if config := t.Config(); config.SrcLanguages+config.TgtLanguages != "" {
		c.answer.CheckLanguages = t.CheckLanguages
	}
	o = translate.LineOptions{Request: translate.Request{Decode: *c.search, MaxSource: c.maxSource}, Batch: c.batch}
	o.Attention, o.Tokens = c.answer.Align != "", c.answer.NeedsTokens()
	o.Text = func(l text.Line) string { s, _, _ := format.Parse(l.Text); return s }
	if c.form.Key != "" {
		o.Number = func(l text.Line) uint64 { _, key, _ := format.Parse(l.Text); return filter.Number(key) }
	}
	if c.form.JSON && c.answer.CheckLanguages != nil {
		o.LanguagesOf = func(l text.Line) (from, to string) { return filter.LineLanguages(l.Text) }
	}
	c.oneSentence = c.sentences.Several(c.given(), t)
	c.sentences.Apply(&o)
	if c.protect {
		o.KeepOf = func(_ int, s string) []text.Range { return markup.Protected(s) }
	}
	c.tags.Apply(&o)
	if err := c.glossary.Apply(&o); err != nil {
		return o, err
	}
	if err := c.memory.Apply(&o, t); err != nil {
		return o, translator.LanguageError(err)
	}
	return o, c.prefix.Apply(&o)
}

// newPrompt returns a function that prints a prompt for each line, and the end of the last. It
// prints nothing unless standard input is a terminal and the input.
func newPrompt(files []string) (show func(string)) {
	if !slices.Contains(files, text.Stdin) || !terminal.IsTerminal(os.Stdin) {
		return func(string) {}
	}
	fmt.Fprintln(os.Stderr, "Type a sentence; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
	return func(s string) { fmt.Fprint(os.Stderr, s) }
}

// answerWriter writes the lines of a file or stream with their answers.
type answerWriter struct {
	format   filter.Format
	progress *filter.Progress
	warnings translator.Warnings
	lines    int
	failed   int // lines without answer

	oneSentence string // as in translation
}

// write writes each translated line at once. After all lines, the error is that of answers.
func (a *answerWriter) write(out io.Writer, answers iter.Seq2[[]translate.Line, error], prompt func(string)) (err error) {
	w := bufio.NewWriter(out)
	prompt("> ")
	for lines, failed := range answers {
		for i := range lines {
			a.add(w, &lines[i])
		}
		if err = cmp.Or(w.Flush(), failed); err != nil {
			break
		}
		a.progress.Update()
		prompt("> ")
	}
	prompt("\n")
	a.progress.Screen.Clear()
	a.warnings.Summarize()
	if err != nil {
		return err
	}
	a.progress.End()
	return nil
}

// add writes a line and its answer.
func (a *answerWriter) add(w io.Writer, l *translate.Line) {
	s, _, err := a.format.Parse(l.Text)
	if a.oneSentence != "" {
		if n := filter.Sentences(s); n > 1 {
			a.warnings.Add(l.Warning(filter.SeveralSentences, "%d sentences, translated as one because of -%s", n, a.oneSentence))
		}
	}
	err = cmp.Or(err, l.Err)
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
