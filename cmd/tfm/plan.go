package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/mat"
	"tfm/model/safetensors"
	"tfm/train"
	"tfm/train/runlog"
)

func planCommand(f *cli.Flags) cli.Action {
	return newTrainer(settings.NewPlan(f)).plan
}

// planFile is the file of the settings in the folder of a training in rounds. Its names of corpora
// and of their languages are used; all else is in the file of the first round.
const planFile = "plan.conf"

// plan fixes a training in rounds.
func (t *trainer) plan(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("found %d folders, expected one for the files of the rounds", len(args))
	}
	dir := args[0]
	t.Out = training.ModelOfRounds(dir)
	if path := filepath.Join(dir, planFile); !t.Dump {
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s already exists: choose another folder, or remove this one", path)
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if err := t.settle(); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	if err := t.inspect(ctx); err != nil {
		return err
	}
	if t.Dump {
		return t.Write(os.Stdout)
	}
	t.prepare()
	t.printChoices()
	ready, err := t.job.Prepare(ctx)
	if err != nil {
		return languageError(err)
	}
	defer ready.Close()
	if err := ready.Begin(ctx); err != nil {
		return err
	}
	for _, path := range []*string{&t.Src, &t.Tgt, &t.TSV, &t.Mix, &t.ValidSrc, &t.ValidTgt, &t.ValidTSV} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return err
			}
		}
	}
	t.SrcLang, t.TgtLang = t.languages[0], t.languages[1] // the first round has those of the model
	if err := safetensors.WriteAtomic(filepath.Join(dir, planFile), t.Write); err != nil {
		return err
	}
	if err := t.logPlan(dir); err != nil {
		return err
	}
	r := t.Options.Rounds
	word, name := cli.ShellWord(dir), cli.ShellWord(os.Args[0])
	t.progress.Line("rounds 1 to %d: %s work %s ROUND WORKER, of workers 0 to %d, then %[2]s merge %[3]s ROUND", r.Rounds, name, word, r.Workers-1)
	t.progress.Line("all in turn on this machine: %s train -plan %s", name, word)
	return nil
}

// logPlan writes the start of the log; its steps and validations are in the folders of the rounds.
func (t *trainer) logPlan(dir string) error {
	w, err := runlog.Create(filepath.Join(dir, runlog.FileName))
	if err != nil {
		return err
	}
	start := runlog.Start{Time: time.Now(), Version: release.Current().String(), Settings: t.Flags().Values(), Threads: t.Threads, Kernels: mat.Kernel(),
		Vocabulary: t.job.Config.TgtVocab, Parameters: t.job.Config.CountParams(), TrainPairs: t.job.Survey.Pairs}
	return errors.Join(w.Start(start), w.Close())
}

// rounds is a command on the folder of a training in rounds.
type rounds struct {
	threads int
	quorum  int
	replay  string // file of a training to repeat, without the parts that it was without
	prints  bool   // data and settings, once for all rounds
}

func workCommand(f *cli.Flags) cli.Action {
	var r rounds
	cli.ThreadsFlag(f, &r.threads)
	return r.work
}

func mergeCommand(f *cli.Flags) cli.Action {
	var r rounds
	f.IntVar(&r.quorum, "quorum", 0, "`workers` that are enough: merge without the others if they are not there; 0 is all").Range(0, 1024)
	cli.ThreadsFlag(f, &r.threads)
	return r.merge
}

func (r *rounds) work(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return cli.Usagef("found %d arguments, expected DIR ROUND WORKER", len(args))
	}
	dir := args[0]
	c, err := openPlan(dir)
	if err != nil {
		return err
	}
	round, roundErr := number("round", args[1], 1, c.Options.Rounds.Rounds)
	worker, workerErr := number("worker", args[2], 0, c.Options.Rounds.Workers-1)
	if err := cmp.Or(roundErr, workerErr); err != nil || train.WorkDone(c.Options, round, worker) {
		return err
	}
	if before := c.Options.OuterPath(round); !train.MergeDone(c.Options, round-1) {
		return training.Retried(train.IncompleteError{Round: round, Missing: []string{before}})
	}
	return r.do(ctx, c, func(ctx context.Context, ready *training.Ready) error { return ready.Work(ctx, round, worker) })
}

func (r *rounds) merge(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return cli.Usagef("found %d arguments, expected DIR ROUND", len(args))
	}
	c, err := openPlan(args[0])
	if err != nil {
		return err
	}
	round, err := number("round", args[1], 1, c.Options.Rounds.Rounds)
	if err != nil {
		return err
	}
	if err := cli.UsageIf(r.quorum < 0 || r.quorum > c.Options.Rounds.Workers, "-quorum is %d, expected 0 to %d, the workers", r.quorum, c.Options.Rounds.Workers); err != nil {
		return err
	}
	_, err = c.Options.Members(round, r.quorum)
	if train.MergeDone(c.Options, round) { // in this order: see train.Merge
		if _, err := os.Stat(training.ModelOfRounds(c.Options.Dir)); err == nil || round < c.Options.Rounds.Rounds {
			return nil
		}
	} else if err != nil {
		return training.Retried(err)
	}
	return r.do(ctx, c, func(ctx context.Context, ready *training.Ready) error { return ready.Merge(ctx, round, r.quorum) })
}

// all makes all rounds of the folder in turn.
func (r *rounds) all(ctx context.Context, dir string) error {
	c, err := openPlan(dir)
	if err != nil {
		return err
	}
	if r.replay != "" {
		of, err := train.OpenCheckpoint(r.replay)
		if err != nil {
			return err
		}
		of.Close()
		c.Options.Rounds.Missing = of.State.Missing
	}
	return r.do(ctx, c, func(ctx context.Context, ready *training.Ready) error { return ready.All(ctx) })
}

// number parses an argument that is a whole number from lo to hi.
func number(name, arg string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(arg)
	return n, cli.UsageIf(err != nil || n < lo || n > hi, "%s is %q, expected %d to %d", name, arg, lo, hi)
}

// openPlan opens the file of the first round, whose settings hold.
func openPlan(dir string) (*train.Checkpoint, error) {
	path := train.Options{Dir: dir}.OuterPath(1)
	c, err := train.OpenPart(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: write it with 'tfm plan'", path)
	}
	if err != nil {
		return nil, cli.MayRetry(err)
	}
	c.Close()
	if c.Options.Rounds.Workers == 0 {
		return nil, fmt.Errorf("%s is no file of rounds", path)
	}
	c.Options.Dir = dir
	return c, nil
}

// do reads the corpora of a training in rounds and does a part of it.
func (r *rounds) do(ctx context.Context, c *train.Checkpoint, part func(context.Context, *training.Ready) error) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	files := settings.NewPlan(cli.NewFlags())
	files.ConfigFile = filepath.Join(c.Options.Dir, planFile)
	t := newTrainer(files)
	if err := t.load(); err != nil {
		return cli.MayRetry(err)
	}
	read, err := tokenizers.Read(c.Path)
	if err != nil {
		return err
	}
	t.tokenizers = &read
	if err := t.checkCorpora(); err != nil {
		return cli.MayRetry(err)
	}
	files.Config, files.Options, files.SrcLang, files.TgtLang = c.Config, c.Options, c.SrcLang, c.TgtLang
	files.Threads = r.threads
	files.Resume = true // nothing is chosen again
	if err := t.inspect(ctx); err != nil {
		return cli.MayRetry(cmp.Or(cli.Interruption(ctx), err))
	}
	t.prepare()
	t.job.NoSettings = !r.prints
	ready, err := t.job.Prepare(ctx)
	if err == nil {
		defer ready.Close()
		err = part(ctx, ready)
	}
	if errors.Is(err, train.ErrOtherPairs) || errors.Is(err, train.ErrOtherValidation) {
		err = fmt.Errorf("%w: the contents of its files have changed", err)
	}
	return cli.MayRetry(cmp.Or(cli.Interruption(ctx), err))
}
