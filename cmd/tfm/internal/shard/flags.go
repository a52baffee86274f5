package shard

import (
	"cmp"
	"math"

	"tfm/cmd/tfm/internal/cli"
	"tfm/mat"
)

// Flags are the flags of a shard.
type Flags struct {
	part    string
	Expect  int
	Verify  bool
	AnyBits bool

	Part Part // after Check
}

// DeclareFlags declares the flags.
func DeclareFlags(f *cli.Flags) *Flags {
	s := new(Flags)
	f.Modes("o")
	f.StringVar(&s.part, "shard", "", "translate part `I/N` of the file: the lines that begin in the I-th of N equal ranges of bytes")
	f.IntVar(&s.Expect, "expect", -1, "number of lines of the input; another number is an error, and nothing is written").Range(0, math.MaxInt).Default("any but an empty stream")
	f.BoolVar(&s.Verify, "verify", false, "compare the SHA-256 of all files with OUT.done, not only size and time").Setting()
	f.BoolVar(&s.AnyBits, "any-bits", false, "write with -o also on a processor whose translations differ from those of others").Setting()
	return s
}

// Check reports a wrong shard, and one that cannot be of the inputs.
func (s *Flags) Check(inputs []string, isSampleByPlace bool) (err error) {
	if s.Part, err = ParsePart(s.part); err != nil {
		return cli.Usagef("-shard is %v", err)
	}
	return cmp.Or(
		cli.UsageIf(s.Part.N > 0 && (len(inputs) != 1 || inputs[0] == "-"), "-shard needs one file"),
		cli.UsageIf(s.Part.N > 0 && isSampleByPlace, "-shard with -sample needs -key, because draws go by the number of a line otherwise"),
	)
}

// CheckBits reports a processor whose translations differ from those of others, unless any-bits
// allows them.
func (s *Flags) CheckBits() error {
	return cli.UsageIf(!s.AnyBits && mat.Kernel() == "generic",
		"this processor has none of AVX2, AVX-512 and NEON, so that its translations differ from those of others; -set any-bits=true writes them nevertheless")
}
