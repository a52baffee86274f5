package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/distill"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text/score"
	"tfm/train"
	"tfm/translate"
)

func distillCommand(f *cli.Flags) cli.Action {
	d := distillation{time: time.Hour}
	f.StringVar(&d.teacher, "teacher", "", "model `file` whose translations the student learns").Common()
	f.StringVar(&d.src, "src", "", "`file` of source sentences, one a line; they need no translations").Common()
	f.StringVar(&d.tgt, "tgt", "", "`file` of their translations, if there are: the student learns those of the teacher's that are closest to them").Common()
	f.StringVar(&d.validSrc, "valid-src", "", "`file` of validation source sentences; without it some of the pairs are held out, and teacher and student are not compared").Common()
	f.StringVar(&d.validTgt, "valid-tgt", "", "`file` of their translations").Common()
	f.StringVar(&d.out, "o", "student.safetensors", "model `file` to write; the files of the stages go to a folder of the same name with .distill").Common()
	f.BoolVar(&d.force, "force", false, "replace an existing model that is not of this command")
	f.Group("Teacher")
	f.IntVar(&d.beam, "beam", 4, "hypotheses of the teacher kept at each decode step; 1 is greedy").Range(1, 64)
	f.IntVar(&d.nbest, "nbest", 8, "translations of each sentence to choose from, with -tgt").Range(1, 64)
	f.BoolVar(&d.int8, "int8", false, "the teacher translates with weights of 8 bits: faster, and a few translations differ")
	f.Float64Var(&d.worst, "drop", 0.02, "share of the translations with the lowest scores that are left out")
	f.Group("Student")
	f.StringVar(&d.preset, "preset", "student-tiny", "model and options of its training").Choices(model.PresetNames()...)
	f.DurationVar(&d.time, "time", "training `time` of the student, such as 2h").Common()
	f.IntVar(&d.steps, "steps", 0, "steps of its training in place of -time, so that it is the same on every machine").Range(0, math.MaxInt32)
	f.StringVar(&d.settings, "config", "", "settings `file` of its training, as of 'tfm train'")
	f.Group("Machine")
	cli.ThreadsFlag(f, &d.threads)
	return d.run
}

// distillation is the command with its flags.
type distillation struct {
	teacher, src, tgt, validSrc, validTgt, out string
	beam, nbest, steps, threads                int
	int8, force                                bool
	worst                                      float64
	preset, settings                           string
	time                                       time.Duration
	progress                                   *terminal.Progress
}

// check reports wrong usage, and files that cannot be read or written.
func (d *distillation) check() error {
	if err := cmp.Or(
		cli.UsageIf(d.teacher == "" || d.src == "", "-teacher and -src are needed"),
		cli.UsageIf((d.validSrc == "") != (d.validTgt == ""), "-valid-src and -valid-tgt belong together"),
		cli.UsageIf(d.time <= 0 && d.steps == 0, "-time is %v, expected more than 0", d.time),
		cli.UsageIf(!(d.worst >= 0 && d.worst < 1), "-drop is %v, expected 0 or more and less than 1", d.worst),
		cli.CheckDistinct(d.out, d.teacher, d.src, d.tgt, d.validSrc, d.validTgt),
	); err != nil {
		return err
	}
	for _, path := range []string{d.teacher, d.src, d.tgt, d.validSrc, d.validTgt} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: expected a regular file, because it is read more than once", path)
		}
	}
	if exists(d.out) && !exists(d.file("quantize.done")) && !d.force {
		return fmt.Errorf("%s already exists: -force replaces it", d.out)
	}
	return os.MkdirAll(d.dir(), 0o777)
}

// dir returns the folder of the stages.
func (d *distillation) dir() string { return strings.TrimSuffix(d.out, ".safetensors") + ".distill" }

func (d *distillation) file(name string) string { return filepath.Join(d.dir(), name) }

func (d *distillation) run(ctx context.Context, _ []string) error {
	if err := d.check(); err != nil {
		return err
	}
	d.progress = terminal.NewProgress(os.Stderr)
	cleaned := []string{d.file("cleaned/pairs.src"), d.file("cleaned/pairs.tgt")}
	for _, stage := range []func(ctx context.Context) error{
		d.translate,
		d.choose,
		func(ctx context.Context) error {
			pairs := []string{d.file("pairs.src"), d.file("pairs.tgt")}
			return d.stage(ctx, "3/6 drop faulty pairs", pairs, cleaned, "clean", "-src", pairs[0], "-tgt", pairs[1], "-o", d.file("cleaned"))
		},
		func(ctx context.Context) error { return d.train(ctx, cleaned) },
		func(ctx context.Context) error {
			in, out := d.file("student.safetensors"), d.file("listed.safetensors")
			return d.stage(ctx, "5/6 learn the lists of likely pieces", append([]string{in}, cleaned...), []string{out},
				"shortlist", "-model", in, "-src", cleaned[0], "-tgt", cleaned[1], "-o", out, "-force")
		},
		func(ctx context.Context) error {
			in := d.file("listed.safetensors")
			return d.stage(ctx, "6/6 round the weights to 8 bits", []string{in}, []string{d.out}, "quantize", "-o", d.out, "-force", in)
		},
		d.compare,
	} {
		err := stage(ctx)
		if errors.As(err, new(cli.InterruptError)) {
			d.progress.Line("the same command again continues")
		}
		if err != nil {
			return err
		}
	}
	d.progress.Line("translate with:   %s translate -model %s", cli.ShellWord(os.Args[0]), cli.ShellWord(d.out))
	return nil
}

// stage runs a command, unless it has been done with these arguments and inputs and its outputs are
// there.
func (d *distillation) stage(ctx context.Context, title string, inputs, outputs []string, command string, args ...string) error {
	return d.once(title, command, append(slices.Clone(args), inputs...), inputs, outputs, func(bool) error {
		d.progress.Line("  tfm %s %s", command, shellWords(args))
		if command != "quantize" {
			args = append(args, d.threadsArgs()...)
		}
		return program().Call(ctx, command, args...)
	})
}

func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = cli.ShellWord(a)
	}
	return strings.Join(words, " ")
}

// threadsArgs returns the flag of the threads, if they were given.
func (d *distillation) threadsArgs() []string {
	if d.threads == 0 {
		return nil
	}
	return []string{"-threads", strconv.Itoa(d.threads)}
}

// once does a stage, unless a record says that it was done in the same way, with the same inputs,
// and the outputs are there. again tells do that it was begun in that way.
func (d *distillation) once(title, name string, how, inputs, outputs []string, do func(again bool) error) error {
	key := strings.Join(how, "\n") + "\n"
	for _, path := range inputs {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		key += fmt.Sprintf("%s %d %s\n", path, info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
	}
	begun, done := d.file(name+".begun"), d.file(name+".done")
	recorded := func(path string) bool {
		found, err := os.ReadFile(path)
		return err == nil && string(found) == key
	}
	if missing := slices.ContainsFunc(outputs, func(path string) bool { return !exists(path) }); recorded(done) && !missing {
		d.progress.Line("%s: done before", title)
		return nil
	}
	d.progress.Line("%s", title)
	again := recorded(begun)
	err := safetensors.WriteAtomic(begun, func(w io.Writer) error {
		_, err := io.WriteString(w, key)
		return err
	})
	if err == nil {
		err = do(again)
	}
	if err != nil {
		return err
	}
	return os.Rename(begun, done)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shardBytes is the size of the text that the teacher translates at a time, so that an interruption
// loses little: some thousand words.
const shardBytes = 64 << 10

// shards returns the files of the teacher's translations.
func (d *distillation) shards() ([]string, error) {
	info, err := os.Stat(d.src)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 1+info.Size()/shardBytes)
	for i := range paths {
		paths[i] = d.file(fmt.Sprintf("teacher/%06d", i+1))
	}
	return paths, nil
}

// translate makes the teacher's translations.
func (d *distillation) translate(ctx context.Context) error {
	paths, err := d.shards()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.file("teacher"), 0o777); err != nil {
		return err
	}
	args := []string{"-model", d.teacher, "-beam", strconv.Itoa(d.beam), "-scores", "-split=false"}
	if d.tgt != "" {
		args = []string{"-model", d.teacher, "-beam", strconv.Itoa(max(d.beam, d.nbest)), "-nbest", strconv.Itoa(d.nbest), "-split=false"}
	}
	if d.int8 {
		args = append(args, "-int8")
	}
	d.progress.Line("1/6 translate with the teacher")
	d.progress.Line("  tfm translate %s %s", shellWords(args), cli.ShellWord(d.src))
	start := time.Now()
	for i, path := range paths {
		shard := slices.Concat(args, d.threadsArgs(), []string{"-shard", fmt.Sprintf("%d/%d", i+1, len(paths)), "-o", path, d.src})
		if err := program().Call(ctx, "translate", shard...); err != nil {
			return err
		}
		took := time.Since(start)
		d.progress.Update(time.Now(), fmt.Sprintf("part %s of %s, %v left", format.Thousands(i+1), format.Thousands(len(paths)), (took/time.Duration(i+1)*time.Duration(len(paths)-i-1)).Round(time.Second)))
	}
	d.progress.Clear()
	return nil
}

// choose writes the pairs of the translations that the student is to learn.
func (d *distillation) choose(context.Context) error {
	shards, err := d.shards()
	if err != nil {
		return err
	}
	translations, title := distill.Scored(d.src, shards), "2/6 leave out the translations with the lowest scores"
	inputs := append([]string{d.src}, shards...)
	if d.tgt != "" {
		translations, title = distill.Closest(d.src, d.tgt, shards), "2/6 choose the translations closest to those of "+d.tgt
		inputs = append(inputs, d.tgt)
	}
	pairs := []string{d.file("pairs.src"), d.file("pairs.tgt")}
	return d.once(title, "choose", []string{fmt.Sprint(d.worst)}, inputs, pairs, func(bool) error {
		return filter.WriteFiles(d.dir(), pairs, func(files []io.Writer) error {
			all, written, err := distill.Write(translations, d.worst, files[0], files[1])
			if err == nil {
				d.progress.Line("  %s of %s", format.Thousands(written), format.Count(all, "pair"))
			}
			return err
		})
	})
}

// train trains the student, or continues its training.
func (d *distillation) train(ctx context.Context, pairs []string) error {
	out := d.file("student.safetensors")
	if info, err := os.Stat(pairs[0]); err == nil && info.Size() == 0 {
		return fmt.Errorf("'tfm clean' leaves none of the translations of %s: is it a model for %s?", d.teacher, d.src)
	}
	args := []string{"-src", pairs[0], "-tgt", pairs[1], "-preset", d.preset, "-o", out}
	inputs := slices.Clone(pairs)
	if d.validSrc != "" {
		args = append(args, "-valid-src", d.validSrc, "-valid-tgt", d.validTgt)
		inputs = append(inputs, d.validSrc, d.validTgt)
	}
	if d.steps > 0 {
		args = append(args, "-steps", strconv.Itoa(d.steps), "-time", "0")
	} else {
		args = append(args, "-time", d.time.String())
	}
	if d.settings != "" {
		args = append(args, "-config", d.settings)
		inputs = append(inputs, d.settings)
	}
	return d.once("4/6 train the student", "train", args, inputs, []string{out}, func(again bool) error {
		d.progress.Line("  tfm train %s", shellWords(args))
		more := "-force"
		if checkpoints, err := train.Checkpoints(d.file("student.ckpt")); again && err == nil && len(checkpoints) > 0 {
			more = "-resume"
		}
		return program().Call(ctx, "train", slices.Concat(args, d.threadsArgs(), []string{more})...)
	})
}

// compare prints teacher beside student, on the validation pairs.
func (d *distillation) compare(ctx context.Context) error {
	if d.validSrc == "" {
		return nil
	}
	rows := [][]string{{"", "BLEU", "chrF", "words/s", "MB"}}
	for _, m := range []struct {
		name string
		translator.Model
	}{{"teacher", translator.Model{Path: d.teacher}}, {"student", translator.Model{Path: d.out, Shortlist: true}}} {
		m.Threads = d.threads
		row, err := d.measure(ctx, m.Model)
		if err != nil {
			return err
		}
		rows = append(rows, append([]string{m.name}, row...))
	}
	for _, row := range rows {
		d.progress.Line("%-8s %8s %8s %10s %8s", row[0], row[1], row[2], row[3], row[4])
	}
	return nil
}

// measure returns the measures of a model, with the settings of search that it is used with.
func (d *distillation) measure(ctx context.Context, m translator.Model) ([]string, error) {
	t, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	texts, err := scoring.ReadFiles([]string{d.validSrc, d.validTgt})
	if err != nil {
		return nil, err
	}
	options := t.DefaultOptions()
	if err := m.Search(&options, nil, t); err != nil {
		return nil, err
	}
	start := time.Now()
	results, err := t.Do(ctx, translate.Request{Texts: texts[0], Decode: options})
	if err != nil {
		return nil, err
	}
	took := time.Since(start).Seconds()
	words := 0
	hypotheses := make([]string, len(results))
	for i, r := range results {
		hypotheses[i] = r.Best()
		words += len(strings.Fields(texts[0][i]))
	}
	info, err := os.Stat(m.Path)
	if err != nil {
		return nil, err
	}
	bleu := score.Count(score.BLEU{Tokenizer: score.Auto.For(texts[1])}, hypotheses, texts[1]).Result().Score
	chrf := score.Count(score.CHRF{}, hypotheses, texts[1]).Result().Score
	return []string{fmt.Sprintf("%.2f", bleu), fmt.Sprintf("%.2f", chrf), fmt.Sprintf("%.0f", float64(words)/took), fmt.Sprintf("%.1f", float64(info.Size())/1e6)}, nil
}
