package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/internal/bench"
)

func versionCommand(f *cli.Flags) cli.Action {
	var c versionPrinter
	f.BoolVar(&c.verbose, "v", false, "show the kernels in use and the processor's extensions")
	return c.run
}

// versionPrinter is the command with its flag.
type versionPrinter struct{ verbose bool }

func (c *versionPrinter) run(_ context.Context, _ []string) error {
	text := fmt.Sprintf("tfm %s\n", release.Current())
	if c.verbose {
		m := bench.Describe()
		list := func(features []string) string { return cmp.Or(strings.Join(features, " "), "none") }
		text += fmt.Sprintf("built:     %s %s\nkernels:   %s, bf16 %s, int8 %s\nin use:    %s\nprocessor: %s\nthreads:   %d\n",
			m.Go, m.System, m.Float32, m.BF16, m.Int8, list(m.InUse), list(m.Supported), runtime.GOMAXPROCS(0))
	}
	_, err := os.Stdout.WriteString(text)
	return err
}
