package mat

import (
	"fmt"
	"os"
)

// isa names the instructions that a set of kernels is written with.
type isa uint8

const (
	generic isa = iota // portable Go
	avx512             // amd64 with AVX-512 F, VL, BW and DQ
	avx2               // amd64 with AVX2 and FMA
	neon               // arm64
)

var isaNames = [...]string{generic: "generic", avx512: "avx512", avx2: "avx2", neon: "neon"}

func (i isa) String() string { return isaNames[i] }

// supported lists what this supported can run, best first.
var supported = append(native(), generic)

// kernel is what the exported functions run with. It is chosen once, when the program starts; only
// tests change it later.
var kernel, kernelErr = choose(os.Getenv("TFM_CPU"))

// choose is the kernel that name asks for, or the best one of the machine and, if that is not what
// was asked for, an error.
func choose(name string) (isa, error) {
	if name == "" {
		return supported[0], nil
	}
	for _, k := range supported {
		if k.String() == name {
			return k, nil
		}
	}
	return supported[0], fmt.Errorf("mat: TFM_CPU=%s is not among the kernels that this program has for this machine: %v", name, supported)
}

// Kernel names the kernels in force: "avx512", "avx2", "neon", or "generic" for portable Go. The
// environment variable TFM_CPU chooses another than the best one that the machine can run.
func Kernel() string { return kernel.String() }

// CheckKernel returns an error if TFM_CPU names a kernel that is unknown, that the machine cannot
// run or that was not built in. The best kernel is then in force instead; programs report the error
// when they start.
func CheckKernel() error { return kernelErr }

// Feature is an extension of the processor's instructions that kernels are written with.
type Feature struct {
	Name  string // as in GODEBUG=cpu.NAME=off, which switches it off
	Has   bool   // the processor has it, and neither the operating system nor GODEBUG keeps it from the program
	InUse bool   // and the kernels in force are those that use it
}

// Features lists the extensions that any kernel of this architecture uses, those first that others
// build on. There are none where no assembly was built in.
func Features() []Feature { return features() }
