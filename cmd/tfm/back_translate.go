package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/distill"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/stages"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/train"
)

func backTranslateCommand(f *cli.Flags) cli.Action {
	b := backTranslation{course: stages.Course{Preset: settings.Auto, Time: time.Hour}}
	b.Program, b.Ending = program().Call, ".back"
	f.StringVar(&b.teacher.Path, "back", "", "model `file` that translates in the other direction").Common()
	f.StringVar(&b.teacher.Text, "mono", "", "`file` of text in the target language, one sentence a line; it needs no translations").Common()
	f.StringVar(&b.src, "src", "", "`file` of source sentences of the pairs").Common()
	f.StringVar(&b.tgt, "tgt", "", "`file` of their translations").Common()
	f.StringVar(&b.tsv, "tsv", "", "`file` of lines with source, tab, target, or translation memory (TMX), or .gz; replaces -src and -tgt").Common()
	f.StringVar(&b.validSrc, "valid-src", "", "`file` of validation source sentences; without it some of the pairs are held out").Common()
	f.StringVar(&b.validTgt, "valid-tgt", "", "`file` of their translations").Common()
	f.StringVar(&b.Out, "o", settings.DefaultModel, "model `file` to write; the files of the stages go to a folder of the same name with .back").Common()
	f.BoolVar(&b.Force, "force", false, "replace an existing model that this command did not write, and the checkpoints of an unfinished training with other settings")
	f.Group("Back-translation")
	b.teacher.LanguageFlags(f)
	f.BoolVar(&b.sample, "sample", false, "draw translations at random, which suits much text better than the best ones")
	f.IntVar(&b.teacher.Beam, "beam", 4, "hypotheses kept at each decode step; 1 is greedy").Range(1, 64)
	f.BoolVar(&b.teacher.Int8, "int8", false, "weights of 8 bits: faster, and a few translations differ")
	f.Float64Var(&b.worst, "drop", 0.02, "share of the pairs with the lowest scores to drop, unless they are drawn")
	f.StringVar(&b.mark, "mark", "<bt>", "`word` before the source of a translated pair, by which the model tells it from others; empty is none")
	f.Float64Var(&b.share, "share", 0.5, "share of the translated pairs in the training")
	f.Group("Training")
	b.course.AddFlags(f)
	f.Group("Machine")
	cli.ThreadsFlag(f, &b.Threads)
	return b.run
}

// backTranslation is the command with its flags: training on pairs, and on text in the target
// language with machine translations as its sources (Sennrich, Haddow and Birch, 2016, "Improving
// Neural Machine Translation Models with Monolingual Data"), drawn at random (Edunov et al., 2018)
// or marked (Caswell, Chelba and Grangier, 2019, "Tagged Back-Translation").
type backTranslation struct {
	stages.Work
	teacher                           stages.Teacher
	src, tgt, tsv, validSrc, validTgt string
	sample                            bool
	worst, share                      float64
	mark                              string
	course                            stages.Course

	files text.Files // the pairs
}

// check reports wrong usage, and files that cannot be read or written, before the translation
// begins, which can take days.
func (b *backTranslation) check() error {
	if b.sample {
		given := b.course.Given()
		if given["beam"] != "" {
			return cli.Usagef("either -beam or -sample")
		}
		if b.teacher.Beam = 0; given["drop"] == "" {
			b.worst = 0
		}
	}
	if err := cmp.Or(
		cli.UsageIf(!(b.worst >= 0 && b.worst < 1), "-drop is %v, expected 0 or more and less than 1", b.worst),
		cli.UsageIf(!(b.share > 0 && b.share < 1), "-share is %v, expected more than 0 and less than 1", b.share),
	); err != nil {
		return err
	}
	files := []*string{&b.teacher.Path, &b.teacher.Text, &b.src, &b.tgt, &b.tsv, &b.validSrc, &b.validTgt, &b.course.Config}
	if err := b.Readable(files...); err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		names = append(names, *f)
	}
	if err := cmp.Or(
		cli.UsageIf(b.teacher.Path == "" || b.teacher.Text == "", "-back and -mono are needed"),
		cli.UsageIf((b.src == "") != (b.tgt == "") || (b.src == "") == (b.tsv == ""), "expected pairs: -src and -tgt, or -tsv"),
		cli.UsageIf(b.Out == "", "-o is empty"),
		cli.UsageIf((b.validSrc == "") != (b.validTgt == ""), "-valid-src and -valid-tgt belong together"),
		cli.CheckDistinct(b.Out, names...),
		b.course.Check(),
	); err != nil {
		return err
	}
	if err := b.checkText(); err != nil {
		return err
	}
	if checkpoints, err := train.Checkpoints(strings.TrimSuffix(b.Out, ".safetensors") + ".ckpt"); err == nil && len(checkpoints) > 0 && !b.Force && !stages.Exists(b.File("train.begun")) && !stages.Exists(b.File("train.done")) {
		return fmt.Errorf("%s already exists, of another training: -force replaces it", checkpoints[0])
	}
	return b.Begin("train")
}

// checkText opens the teacher and reads all pairs and the text, whose errors would come late.
func (b *backTranslation) checkText() error {
	from, to, err := b.teacher.Check()
	if err != nil {
		return err
	}
	b.course.SrcLang, b.course.TgtLang = to, from // the other direction
	b.files = text.Files{Source: b.src, Target: b.tgt}
	if b.tsv != "" {
		b.files = text.Files{Source: b.tsv, OneSided: new(int), SrcLang: to, TgtLang: from, Likely: true}
	}
	all := []text.Files{b.files}
	if b.validSrc != "" {
		all = append(all, text.Files{Source: b.validSrc, Target: b.validTgt})
	}
	for _, files := range all {
		if err := stages.ReadAll(files.Views()); err != nil {
			return err
		}
	}
	return nil
}

func (b *backTranslation) run(ctx context.Context, _ []string) error {
	if err := b.check(); err != nil {
		return err
	}
	pairs, cleaned := []string{b.File("back.src"), b.File("back.tgt")}, []string{b.File("cleaned/back.src"), b.File("cleaned/back.tgt")}
	return b.Do(
		func() error { return b.translateText(ctx) },
		func() error { return b.choose(pairs) },
		func() error { return b.Clean(ctx, "3/4 drop faulty pairs", pairs, cleaned) },
		func() error { return b.trainModel(ctx, cleaned) },
	)
}

// translateText translates the text into the source language.
func (b *backTranslation) translateText(ctx context.Context) error {
	return b.Translate(ctx, "1/4 translate into the source language", b.teacher, "-scores")
}

// choose writes the translations as sources of the text.
func (b *backTranslation) choose(pairs []string) error {
	shards, err := b.Shards(b.teacher)
	if err != nil {
		return err
	}
	s := stages.Stage{Title: "2/4 leave out the translations with the lowest scores", Inputs: append([]string{b.teacher.Text}, shards...), Outputs: []string{pairs[1], pairs[0]}}
	return b.Write(s, distill.Scored(b.teacher.Text, shards), b.worst)
}

// trainModel trains on both kinds of pairs.
func (b *backTranslation) trainModel(ctx context.Context, back []string) error {
	if info, err := os.Stat(back[0]); err == nil && info.Size() == 0 {
		return fmt.Errorf("'tfm clean' leaves none of the translations of %s: is it a model from the language of %s?", b.teacher.Path, b.teacher.Text)
	}
	if err := b.readPairs(); err != nil {
		return err
	}
	mix := b.File("mix.yml")
	if err := b.writeMix(mix, back); err != nil {
		return err
	}
	args, inputs := []string{"-mix", mix}, append([]string{mix, b.files.Source, b.files.Target}, back...)
	if b.validSrc != "" {
		args, inputs = append(args, "-valid-src", b.validSrc, "-valid-tgt", b.validTgt), append(inputs, b.validSrc, b.validTgt)
	}
	return b.Train(ctx, b.course, "4/4 train on both", args, inputs, b.Out)
}

// readPairs writes the pairs of one file as two, so that the sides of a translation memory are
// those that the languages of the other direction tell.
func (b *backTranslation) readPairs() error {
	if b.tsv == "" {
		return nil
	}
	from, to := b.files, text.Files{Source: b.File("pairs.src"), Target: b.File("pairs.tgt")}
	b.files = to
	s := stages.Stage{Title: "  read the pairs", Name: "pairs", Args: []string{from.SrcLang, from.TgtLang}, Inputs: []string{b.tsv}, Outputs: to.Paths()}
	return b.Once(s, func(bool) error {
		return filter.WriteFiles(b.Dir(), to.Paths(), func(files []io.Writer) error {
			src, tgt := bufio.NewWriter(files[0]), bufio.NewWriter(files[1])
			for p, err := range from.Views() {
				if err != nil {
					return err
				}
				src.WriteString(p.Source + "\n")
				tgt.WriteString(p.Target + "\n")
			}
			return errors.Join(src.Flush(), tgt.Flush())
		})
	})
}

// writeMix writes the file of the mix, unless it has this content: its time is that of the last
// change.
func (b *backTranslation) writeMix(path string, back []string) error {
	mix := fmt.Sprintf(`datasets:
  pairs:
    src: %q
    tgt: %q
  back:
    src: %q
    tgt: %q
    tag: %q
    hold-out: false
stages:
  - both
both:
  - pairs %v
  - back %v
  - until pairs inf
`, b.files.Source, b.files.Target, back[0], back[1], b.mark, 1-b.share, b.share)
	if found, err := os.ReadFile(path); err == nil && string(found) == mix {
		return nil
	}
	return safetensors.WriteAtomic(path, func(w io.Writer) error {
		_, err := io.WriteString(w, mix)
		return err
	})
}
