package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/cpu"

	"tfm/mat"
)

func versionCommand() command {
	return command{
		name:    "version",
		short:   "show the version, and with -v what the processor can do",
		usage:   "[-v]",
		example: "tfm version -v",
		notes:   "The environment variable TFM_CPU chooses other kernels than the best ones that the processor can run.",
		setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			verbose := f.Bool("v", false, "show the kernels in force and the processor's features too")
			return func(_ context.Context, args []string) error {
				if err := noArguments(args); err != nil {
					return err
				}
				text := fmt.Sprintf("tfm %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
				if *verbose {
					text += fmt.Sprintf("kernels:   %s\nprocessor: %s\nthreads:   %d\n",
						mat.Kernel(), strings.Join(cpuFeatures(), " "), runtime.GOMAXPROCS(0))
				}
				_, err := os.Stdout.WriteString(text)
				return err
			}
		},
	}
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

// cpuFeatures names the processor's features that kernels are or could be written for.
func cpuFeatures() []string {
	var names []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx", cpu.X86.HasAVX},
		{"avx2", cpu.X86.HasAVX2},
		{"fma", cpu.X86.HasFMA},
		{"avx512f", cpu.X86.HasAVX512F},
		{"avx512vl", cpu.X86.HasAVX512VL},
		{"avx512bw", cpu.X86.HasAVX512BW},
		{"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512vnni", cpu.X86.HasAVX512VNNI},
		{"avx512bf16", cpu.X86.HasAVX512BF16},
		{"asimd", cpu.ARM64.HasASIMD},
		{"asimddp", cpu.ARM64.HasASIMDDP},
		{"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			names = append(names, f.name)
		}
	}
	return names
}
