package main

import (
	"context"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/lesson"
)

func lessonCommand(f *cli.Flags) cli.Action {
	l := lesson.Lesson{Config: lesson.Config()}
	f.IntVar(&l.Steps, "steps", 200, "limit of training steps")
	f.Uint64Var(&l.Seed, "seed", 1, "seed of the initial weights")
	cli.ThreadsFlag(f, &l.Threads)
	return func(context.Context, []string) error {
		if l.Steps < 1 {
			return cli.Usagef("-steps is %d, expected 1 or more", l.Steps)
		}
		return l.Run(os.Stdout)
	}
}
