package mat

import (
	"fmt"
	"os"
)

// isa is the instruction set of a kernel.
type isa uint8

const (
	generic isa = iota // portable Go
	avx512             // amd64 with AVX-512 F, VL, BW and DQ
	avx2               // amd64 with AVX2 and FMA
	neon               // arm64
)

var isaNames = [...]string{generic: "generic", avx512: "avx512", avx2: "avx2", neon: "neon"}

func (i isa) String() string { return isaNames[i] }

// supported lists the kernels that this machine can run, best first.
var supported = append(native(), generic)

// kernelVar and kernelName are the environment variable that selects the kernels and its value.
var kernelVar, kernelName = kernelSetting(os.Getenv)

// kernelSetting returns MAT_KERNEL or, if that is not set, TFM_CPU, and its value.
func kernelSetting(getenv func(string) string) (variable, name string) {
	if name := getenv("MAT_KERNEL"); name != "" {
		return "MAT_KERNEL", name
	}
	return "TFM_CPU", getenv("TFM_CPU")
}

// kernel is the instruction set in use. It is selected at startup; only tests change it later.
var kernel, kernelErr = choose(kernelVar, kernelName)

// choose returns the kernel called name, or the best one for an empty name. If name is unavailable
// it returns the best one and an error that names the environment variable.
func choose(variable, name string) (isa, error) {
	if name == "" {
		return supported[0], nil
	}
	for _, k := range supported {
		if k.String() == name {
			return k, nil
		}
	}
	return supported[0], fmt.Errorf("mat: %s=%s is not available, expected one of %v, in lower case", variable, name, supported)
}

// Kernel names the kernels in use: "avx512", "avx2", "neon", or "generic" for portable Go. They are
// the best ones that the machine can run, unless the environment variable MAT_KERNEL or TFM_CPU
// selects others; MAT_KERNEL has precedence.
func Kernel() string { return kernel.String() }

// CheckKernel returns an error if MAT_KERNEL or, without it, TFM_CPU names a kernel that is
// unknown, not supported by the machine, or not built in; names are lower case. In that case the
// value is ignored, without a message, and the best kernel is in use: programs should report the
// error at startup.
func CheckKernel() error { return kernelErr }

// Feature is an instruction set extension that kernels use.
type Feature struct {
	Name  string // as in GODEBUG=cpu.NAME=off, which disables it
	Has   bool   // the processor has it, and neither the operating system nor GODEBUG disables it
	InUse bool   // the kernels in use depend on it
}

// Features lists the extensions that any kernel of this architecture uses, in order of dependency.
// The list is empty in builds without assembly.
func Features() []Feature { return features() }
