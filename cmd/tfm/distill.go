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
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/score"
	"tfm/train"
	"tfm/translate"
)

func distillCommand(f *cli.Flags) cli.Action {
	d := distillation{time: time.Hour, given: f.Given}
	f.StringVar(&d.teacher.Path, "teacher", "", "model `file` whose translations the student learns").Common()
	f.StringVar(&d.src, "src", "", "`file` of source sentences, one a line; they need no translations").Common()
	f.StringVar(&d.tgt, "tgt", "", "`file` of reference translations, if any: of the teacher's -nbest the one closest to it is learned").Common()
	f.StringVar(&d.validSrc, "valid-src", "", "`file` of validation source sentences; without it some of the pairs are held out, and teacher and student are not compared").Common()
	f.StringVar(&d.validTgt, "valid-tgt", "", "`file` of their translations").Common()
	f.StringVar(&d.out, "o", "student.safetensors", "model `file` to write; the files of the stages go to a folder of the same name with .distill").Common()
	f.BoolVar(&d.force, "force", false, "replace an existing model that this command did not write")
	f.Group("Teacher")
	d.teacher.LanguageFlags(f)
	f.IntVar(&d.beam, "beam", 4, "hypotheses of the teacher kept at each decode step; 1 is greedy").Range(1, 64)
	f.IntVar(&d.nbest, "nbest", 8, "translations of each sentence to choose from, with -tgt; -beam is at least as large").Range(1, 64)
	f.BoolVar(&d.teacher.Int8, "int8", false, "run the teacher with weights of 8 bits: faster, and a few translations differ")
	f.Float64Var(&d.worst, "drop", 0.02, "share of the pairs with the lowest scores to drop")
	f.Group("Student")
	f.StringVar(&d.preset, "preset", "student-tiny", "model and options of its training").Choices(model.PresetNames()...)
	f.DurationVar(&d.time, "time", "training `time` of the student, such as 2h").Common()
	f.IntVar(&d.steps, "steps", 0, "steps of its training in place of -time, so that it is the same on every machine").Range(0, math.MaxInt32)
	f.StringVar(&d.config, "config", "", "settings `file` of its training, as of 'tfm train'; -preset and -time, if given, override it")
	f.Group("Machine")
	cli.ThreadsFlag(f, &d.threads)
	return d.run
}

// distillation is the command with its flags.
type distillation struct {
	given                             func() map[string]string // flags of the command line
	teacher                           translator.Model
	src, tgt, validSrc, validTgt, out string
	beam, nbest, steps, threads       int
	force                             bool
	worst                             float64
	preset, config                    string
	time                              time.Duration
	progress                          *terminal.Progress
}

// check reports wrong usage, and files that cannot be read or written, before the teacher begins,
// which can take days.
func (d *distillation) check() (err error) {
	for _, path := range []*string{&d.teacher.Path, &d.src, &d.tgt, &d.validSrc, &d.validTgt, &d.config, &d.out} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil { // a name may begin with a dash
			return err
		}
		if info, err := os.Stat(*path); path != &d.out && err != nil {
			return err
		} else if path != &d.out && !info.Mode().IsRegular() {
			return fmt.Errorf("%s: expected a regular file, because it is read more than once", *path)
		}
	}
	if err := cmp.Or(
		cli.UsageIf(d.teacher.Path == "" || d.src == "", "-teacher and -src are needed"),
		cli.UsageIf(d.out == "", "-o is empty"),
		cli.UsageIf((d.validSrc == "") != (d.validTgt == ""), "-valid-src and -valid-tgt belong together"),
		cli.UsageIf(d.time <= 0 && d.steps == 0, "-time is %v, expected more than 0", d.time),
		cli.UsageIf(!(d.worst >= 0 && d.worst < 1), "-drop is %v, expected 0 or more and less than 1", d.worst),
		cli.UsageIf(strings.HasSuffix(d.src, ".gz"), "-src is gzipped, expected a plain file, which is translated in parts"),
		cli.CheckDistinct(d.out, d.teacher.Path, d.src, d.tgt, d.validSrc, d.validTgt, d.config),
	); err != nil {
		return err
	}
	if d.config != "" {
		r := settings.NewRun(cli.NewFlags())
		r.ConfigFile = d.config
		if err := r.Load(); err != nil {
			return err
		}
	}
	for _, files := range []text.Files{{Source: d.src, Target: d.tgt}, {Source: d.validSrc, Target: d.validTgt}} {
		if files.Target == "" {
			continue
		}
		for _, err := range files.RepairedPairs() {
			if err != nil {
				return err
			}
		}
	}
	t, err := d.teacher.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	if c := t.Config(); c.TgtLanguages != "" && d.teacher.To == "" || c.SrcLanguages != "" && d.teacher.From == "" {
		return cli.Usagef("%s is a model of several languages: name them with -from and -to", d.teacher.Path)
	}
	// A record of the begin is of a kill between the last stage and its record.
	if exists(d.out) && !d.force && !exists(d.file("quantize.begun")) && !d.recorded("quantize.done", stamp(d.out)) {
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
	unlock, err := train.Lock(d.dir())
	if err != nil {
		return err
	}
	defer unlock()
	d.progress = terminal.NewProgress(os.Stderr)
	pairs, cleaned := []string{d.file("pairs.src"), d.file("pairs.tgt")}, []string{d.file("cleaned/pairs.src"), d.file("cleaned/pairs.tgt")}
	student, listed := d.file("student.safetensors"), d.file("listed.safetensors")
	for _, do := range []func() error{
		func() error { return d.translate(ctx) },
		func() error { return d.choose(pairs) },
		func() error {
			return d.command(ctx, stage{title: "3/6 drop faulty pairs", name: "clean", inputs: pairs, outputs: cleaned,
				args: append(pairsArgs(pairs), "-o", d.file("cleaned"))})
		},
		func() error { return d.train(ctx, cleaned, student) },
		func() error {
			return d.command(ctx, stage{title: "5/6 learn the lists of likely pieces", name: "shortlist", inputs: append([]string{student}, cleaned...), outputs: []string{listed},
				args: append(pairsArgs(cleaned), "-model", student, "-o", listed, "-force")})
		},
		func() error {
			return d.command(ctx, stage{title: "6/6 round the weights to 8 bits", name: "quantize", inputs: []string{listed}, outputs: []string{d.out},
				args: []string{"-o", d.out, "-force", listed}})
		},
		func() error { return d.compare(ctx) },
	} {
		err := do()
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

// pairsArgs returns the flags of two files of pairs.
func pairsArgs(files []string) []string { return []string{"-src", files[0], "-tgt", files[1]} }

// stage is a part of the work that is done once.
type stage struct {
	title, name     string
	args            []string // with inputs and program, what the outputs depend on
	inputs, outputs []string // files
	partial         string   // folder of unfinished work, which only the same stage continues
}

// command does a stage that is a command of the program.
func (d *distillation) command(ctx context.Context, s stage) error {
	return d.once(s, func(bool) error {
		d.progress.Line("  tfm %s %s", s.name, shellWords(s.args))
		return program().Call(ctx, s.name, append(d.threadsArgs(), s.args...)...)
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

// once runs do, unless the record of the stage says that its outputs were made by this program, of
// these inputs and arguments, and nothing has changed. resumed says that do was begun for them, but
// has not ended.
func (d *distillation) once(s stage, do func(resumed bool) error) error {
	key := release.Current().String() + "\n" + strings.Join(s.args, "\n") + "\n" + stamp(s.inputs...)
	begun, done := s.name+".begun", s.name+".done"
	if d.recorded(done, key+stamp(s.outputs...)) {
		d.progress.Line("%s: done before", s.title)
		return nil
	}
	d.progress.Line("%s", s.title)
	resumed := d.recorded(begun, key)
	err := os.RemoveAll(d.file(done))
	if err == nil && !resumed {
		// In this order, so that a kill in between leaves no unfinished work of another stage.
		if err = cmp.Or(os.RemoveAll(d.file(begun)), os.RemoveAll(s.partial)); err == nil {
			err = d.record(begun, key)
		}
	}
	if err == nil {
		err = do(resumed)
	}
	if err == nil {
		err = d.record(done, key+stamp(s.outputs...))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(d.file(begun))
}

// stamp describes files by size and time. One that is missing differs from every other.
func stamp(paths ...string) string {
	var b strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %s\n", path, info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
		} else {
			fmt.Fprintf(&b, "%s %v\n", path, err)
		}
	}
	return b.String()
}

// recorded reports whether a record ends in text.
func (d *distillation) recorded(name, text string) bool {
	found, err := os.ReadFile(d.file(name))
	return err == nil && strings.HasSuffix(string(found), text)
}

// record writes a record.
func (d *distillation) record(name, text string) error {
	return safetensors.WriteAtomic(d.file(name), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shardBytes is the size of the text that the teacher translates at a time, about 10,000 words, so
// that an interruption loses little.
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

// translate makes the teacher's translations. Each shard has a record of its own.
func (d *distillation) translate(ctx context.Context) error {
	paths, err := d.shards()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.file("teacher"), 0o777); err != nil {
		return err
	}
	args := []string{"-model", d.teacher.Path, "-beam", strconv.Itoa(d.beam), "-scores"}
	if d.tgt != "" {
		args = []string{"-model", d.teacher.Path, "-beam", strconv.Itoa(max(d.beam, d.nbest)), "-nbest", strconv.Itoa(d.nbest), "-split=false"}
	}
	if d.teacher.Int8 {
		args = append(args, "-int8")
	}
	for _, language := range [][2]string{{"-from", d.teacher.From}, {"-to", d.teacher.To}} {
		if language[1] != "" {
			args = append(args, language[0], language[1])
		}
	}
	d.progress.Line("1/6 translate with the teacher")
	d.progress.Line("  tfm translate %s %s", shellWords(args), cli.ShellWord(d.src))
	start := time.Now()
	for i, path := range paths {
		shard := slices.Concat(args, d.threadsArgs(), []string{"-shard", fmt.Sprintf("%d/%d", i+1, len(paths)), "-o", path, d.src})
		if err := program().Call(ctx, "translate", shard...); err != nil {
			return err
		}
		left := time.Since(start) / time.Duration(i+1) * time.Duration(len(paths)-i-1)
		d.progress.Update(time.Now(), fmt.Sprintf("part %s of %s, %v left", format.Thousands(i+1), format.Thousands(len(paths)), left.Round(time.Second)))
	}
	d.progress.Clear()
	return nil
}

// choose writes the pairs that the student is to learn.
func (d *distillation) choose(pairs []string) error {
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
	return d.once(stage{title: title, name: "choose", args: []string{fmt.Sprint(d.worst)}, inputs: inputs, outputs: pairs}, func(bool) error {
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
func (d *distillation) train(ctx context.Context, pairs []string, out string) error {
	if info, err := os.Stat(pairs[0]); err == nil && info.Size() == 0 {
		return fmt.Errorf("'tfm clean' leaves none of the translations of %s: is it a model for %s?", d.teacher.Path, d.src)
	}
	args, inputs := append(pairsArgs(pairs), "-o", out), slices.Clone(pairs)
	if d.validSrc != "" {
		args, inputs = append(args, "-valid-src", d.validSrc, "-valid-tgt", d.validTgt), append(inputs, d.validSrc, d.validTgt)
	}
	if d.config != "" {
		args, inputs = append(args, "-config", d.config), append(inputs, d.config)
		for l := range text.Lines(d.config) {
			if _, value, _ := strings.Cut(l, "="); exists(strings.TrimSpace(value)) { // vocab
				inputs = append(inputs, strings.TrimSpace(value))
			}
		}
	}
	given := d.given()
	if _, ok := given["preset"]; ok || d.config == "" {
		args = append(args, "-preset", d.preset)
	}
	if _, ok := given["time"]; d.steps > 0 {
		args = append(args, "-steps", strconv.Itoa(d.steps), "-time", "0")
	} else if ok || d.config == "" {
		args = append(args, "-time", d.time.String())
	}
	s := stage{title: "4/6 train the student", name: "train", args: args, inputs: inputs, outputs: []string{out}, partial: d.file("student.ckpt")}
	return d.once(s, func(resumed bool) error {
		d.progress.Line("  tfm train %s", shellWords(args))
		more := "-force"
		if checkpoints, err := train.Checkpoints(s.partial); resumed && err == nil && len(checkpoints) > 0 {
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
	}{{"teacher", d.teacher}, {"student", translator.Model{Path: d.out, Shortlist: true}}} {
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
