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
	"tfm/mat"
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
		used, has := features()
		text += fmt.Sprintf("built:     %s %s/%s\nkernels:   %s, bf16 %s, int8 %s\nin use:    %s\nprocessor: %s\nthreads:   %d\n",
			runtime.Version(), runtime.GOOS, runtime.GOARCH, mat.Kernel(), mat.KernelBF16(), mat.KernelInt8(), used, has, runtime.GOMAXPROCS(0))
	}
	_, err := os.Stdout.WriteString(text)
	return err
}

// features lists the extensions that the kernels in use need, and those that the processor has.
func features() (used, has string) {
	var inUse, all []string
	for _, f := range mat.Features() {
		if f.InUse {
			inUse = append(inUse, f.Name)
		}
		if f.Has {
			all = append(all, f.Name)
		}
	}
	return cmp.Or(strings.Join(inUse, " "), "none"), cmp.Or(strings.Join(all, " "), "none")
}
