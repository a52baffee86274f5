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
		Short:   "train the paper's model on three sentences, step by step",
		Usage:   "[flags]",
		Example: "tfm lesson",
		Notes: `The sentences are 我是学生 (I am a student), 我喜欢学习 (I like learning) and 我是男生 (I am a boy). The model has the size
of the paper's base model, 6 + 6 layers of d_model 512, without biases. Gradient descent with momentum trains it until all
three translations are exact; then each step of the decoder is printed with its probabilities.

It needs no files, 0.6 GB of memory and less than half a minute on two cores. The output is the same on every machine and
for any -threads. The exit code is 1 if the model has not learned the sentences after -steps.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			l := lesson.Lesson{Config: lesson.Config()}
			f.IntVar(&l.Steps, "steps", 200, "limit of training steps")
			f.Uint64Var(&l.Seed, "seed", 1, "seed of the initial weights")
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
