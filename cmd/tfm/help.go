package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

func helpCommand() command {
	return command{
		name:    "help",
		short:   "show what tfm can do, or one command's flags",
		usage:   "[COMMAND]",
		example: "tfm help train",
		setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			return func(_ context.Context, args []string) error { return help(args) }
		},
	}
}

func help(args []string) error {
	switch len(args) {
	case 0:
		_, err := os.Stdout.WriteString(overview())
		return err
	case 1:
		c, ok := find(args[0])
		if !ok {
			return usagef("unknown command %q", args[0])
		}
		return c.help(os.Stdout)
	default:
		return usagef("one command at a time")
	}
}

func overview() string {
	var b strings.Builder
	b.WriteString("tfm trains the Transformer of \"Attention Is All You Need\" to translate, and translates with it.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  tfm %-11s %s\n", c.name, c.short)
	}
	b.WriteString("\n'tfm help COMMAND' shows its flags with their defaults, and an example. Flags come before other arguments.\n")
	return b.String()
}
