package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/distill"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/translator"
	"tfm/text"
	"tfm/text/score"
	"tfm/translate"
)

func distillCommand(f *cli.Flags) cli.Action {
	d := distillation{course: distill.Course{Preset: settings.Auto, Time: time.Hour}}
	d.Program = program().Call
	f.StringVar(&d.teacher.Path, "teacher", "", "model `file` whose translations the student learns").Common()
	f.StringVar(&d.teacher.Text, "src", "", "`file` of source sentences, one a line; they need no translations").Common()
	f.StringVar(&d.validSrc, "valid-src", "", "`file` of validation source sentences; without it some of the pairs are held out, and teacher and student are not compared").Common()
	f.StringVar(&d.validTgt, "valid-tgt", "", "`file` of their translations").Common()
	f.StringVar(&d.Out, "o", "student.safetensors", "model `file` to write; the files of the stages go to a folder of the same name with .distill").Common()
	f.BoolVar(&d.Force, "force", false, "replace an existing model that this command did not write, and the checkpoints of an unfinished training with other settings")
	f.Group("Teacher")
	d.teacher.LanguageFlags(f)
	f.IntVar(&d.teacher.Beam, "beam", 4, "hypotheses of the teacher kept at each decode step; 1 is greedy").Range(1, 64)
	f.BoolVar(&d.teacher.Int8, "int8", false, "run the teacher with weights of 8 bits: faster, and a few translations differ")
	f.Float64Var(&d.worst, "drop", 0.02, "share of the pairs with the lowest scores to drop")
	f.Group("Student")
	d.course.AddFlags(f)
	f.Group("Machine")
	cli.ThreadsFlag(f, &d.Threads)
	return d.run
}

// distillation is the command with its flags.
type distillation struct {
	distill.Work
	teacher            distill.Teacher
	validSrc, validTgt string
	worst              float64
	course             distill.Course
}

// check reports wrong usage, and files that cannot be read or written, before the teacher begins,
// which can take days.
func (d *distillation) check() error {
	if err := d.Readable(&d.teacher.Path, &d.teacher.Text, &d.validSrc, &d.validTgt, &d.course.Config); err != nil {
		return err
	}
	if err := cmp.Or(
		cli.UsageIf(d.teacher.Path == "" || d.teacher.Text == "", "-teacher and -src are needed"),
		cli.UsageIf(d.Out == "", "-o is empty"),
		cli.UsageIf((d.validSrc == "") != (d.validTgt == ""), "-valid-src and -valid-tgt belong together"),
		cli.UsageIf(!(d.worst >= 0 && d.worst < 1), "-drop is %v, expected 0 or more and less than 1", d.worst),
		cli.CheckDistinct(d.Out, d.teacher.Path, d.teacher.Text, d.validSrc, d.validTgt, d.course.Config),
		d.course.Check(),
	); err != nil {
		return err
	}
	if d.validSrc != "" {
		if err := distill.ReadAll(text.Files{Source: d.validSrc, Target: d.validTgt}.Views()); err != nil {
			return err
		}
	}
	var err error
	if d.course.SrcLang, d.course.TgtLang, err = d.teacher.Check(); err != nil {
		return err
	}
	return d.Begin("quantize")
}

func (d *distillation) run(ctx context.Context, _ []string) error {
	if err := d.check(); err != nil {
		return err
	}
	pairs, cleaned := []string{d.File("pairs.src"), d.File("pairs.tgt")}, []string{d.File("cleaned/pairs.src"), d.File("cleaned/pairs.tgt")}
	student, listed := d.File("student.safetensors"), d.File("listed.safetensors")
	err := d.Do(
		func() error { return d.Translate(ctx, d.teacher) },
		func() error { return d.choose(pairs) },
		func() error { return d.Clean(ctx, pairs, cleaned) },
		func() error { return d.trainStudent(ctx, cleaned, student) },
		func() error {
			return d.Command(ctx, distill.Stage{Title: "5/6 learn the lists of likely pieces", Name: "shortlist", Inputs: append([]string{student}, cleaned...), Outputs: []string{listed},
				Args: append(distill.PairsArgs(cleaned), "-model", student, "-o", listed, "-force")})
		},
		func() error {
			return d.Command(ctx, distill.Stage{Title: "6/6 round the weights to 8 bits", Name: "quantize", Inputs: []string{listed}, Outputs: []string{d.Out},
				Args: []string{"-o", d.Out, "-force", listed}})
		},
		func() error { return d.compare(ctx) },
	)
	if err == nil {
		d.Progress.Line("translate with:   %s translate -model %s", cli.ShellWord(os.Args[0]), cli.ShellWord(d.Out))
	}
	return err
}

// choose writes the pairs that the student is to learn.
func (d *distillation) choose(pairs []string) error {
	shards, err := d.Shards(d.teacher)
	if err != nil {
		return err
	}
	s := distill.Stage{Title: "2/6 leave out the translations with the lowest scores", Inputs: append([]string{d.teacher.Text}, shards...), Outputs: pairs}
	return d.Write(s, distill.Scored(d.teacher.Text, shards), d.worst)
}

// trainStudent trains the student.
func (d *distillation) trainStudent(ctx context.Context, pairs []string, out string) error {
	if info, err := os.Stat(pairs[0]); err == nil && info.Size() == 0 {
		return fmt.Errorf("'tfm clean' leaves none of the translations of %s: is it a model for %s?", d.teacher.Path, d.teacher.Text)
	}
	args, inputs := distill.PairsArgs(pairs), slices.Clone(pairs)
	if d.validSrc != "" {
		args, inputs = append(args, "-valid-src", d.validSrc, "-valid-tgt", d.validTgt), append(inputs, d.validSrc, d.validTgt)
	}
	return d.Train(ctx, d.course, args, inputs, out)
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
	}{{"teacher", d.teacher.Model}, {"student", translator.Model{Path: d.Out, Shortlist: true}}} {
		m.Threads = d.Threads
		row, err := d.measure(ctx, m.Model)
		if err != nil {
			return err
		}
		rows = append(rows, append([]string{m.name}, row...))
	}
	for _, row := range rows {
		d.Progress.Line("%-8s %8s %8s %10s %8s", row[0], row[1], row[2], row[3], row[4])
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
