package main

import (
	"context"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/lesson"
)

func lessonCommand() cli.Command {
	return cli.Command{
		Name:    "lesson",
		Short:   "train the paper's model on three sentences, and show every turn of the loop that translates them",
		Usage:   "[flags]",
		Example: "tfm lesson",
		Notes: `The sentences are 我是学生 (I am a student), 我喜欢学习 (I like learning) and 我是男生 (I am a boy). The model has the size of
the paper's base model, 6 + 6 layers of d_model 512, and no biases; gradient descent with momentum 0.99 at 0.001 trains it
until all three come out word for word. It takes less than half a minute on two cores and 0.6 GB, and needs no files. What
it prints is the same on every machine and for every number of threads. If the steps run out first, the exit code is 1.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			l := lesson.Lesson{Config: lesson.Config()}
			f.IntVar(&l.Steps, "steps", 200, "training steps at most")
			f.Uint64Var(&l.Seed, "seed", 1, "what the first weights are drawn from")
			cli.ThreadsFlag(f, &l.Threads)
			return func(_ context.Context, args []string) error {
				if err := cli.NoArguments(args); err != nil {
					return err
				}
				if l.Steps < 1 {
					return cli.Usagef("-steps %d: must be 1 or more", l.Steps)
				}
				if err := cli.CheckThreads(l.Threads); err != nil {
					return err
				}
				return l.Run(os.Stdout)
			}
		},
	}
}
