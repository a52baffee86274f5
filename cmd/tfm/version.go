package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"tfm/cmd/tfm/internal/cli"
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
	text := fmt.Sprintf("tfm %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if c.verbose {
		used, has := features()
		text += fmt.Sprintf("kernels:   %s, bf16 %s, int8 %s\nin use:    %s\nprocessor: %s\nthreads:   %d\n",
			mat.Kernel(), mat.KernelBF16(), mat.KernelInt8(), used, has, runtime.GOMAXPROCS(0))
	}
	_, err := os.Stdout.WriteString(text)
	return err
}

// version is the module's version, or the commit if the binary was built from a clone.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := strings.Trim(info.Main.Version, "()")
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12 && v == "devel":
			v += "-" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.HasSuffix(v, "+dirty"):
			v += "+dirty"
		}
	}
	return v
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
