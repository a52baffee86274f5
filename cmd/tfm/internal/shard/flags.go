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
	f.StringVar(&s.part, "shard", "", "translate part `I/N` of the file: the lines that begin in the I-th of N equal ranges of bytes")
	f.IntVar(&s.Expect, "expect", -1, "number of lines of the input; another number is an error, and nothing is written").Range(0, math.MaxInt).Default("any but an empty stream")
	f.BoolVar(&s.Verify, "verify", false, "compare the SHA-256 of all files with OUT.done, not only size and time")
	f.BoolVar(&s.AnyBits, "any-bits", false, "write with -o also on a processor whose translations differ from those of others")
	return s
}

// Check reports flags that do not go together. out is the file of -o, or "".
func (s *Flags) Check(given map[string]string, inputs []string, isSampleByPlace bool, out string) (err error) {
	for _, name := range []string{"shard", "expect", "verify", "any-bits"} {
		if _, ok := given[name]; ok && out == "" {
			return cli.Usagef("-%s needs -o", name)
		}
	}
	if s.Part, err = ParsePart(s.part); err != nil {
		return cli.Usagef("-shard is %v", err)
	}
	return cmp.Or(
		cli.UsageIf(s.Part.N > 0 && (len(inputs) != 1 || inputs[0] == "-"), "-shard needs one file"),
		cli.UsageIf(s.Part.N > 0 && isSampleByPlace, "-shard with -sample needs -key, because draws go by the number of a line otherwise"),
	)
}

// CheckBits reports a processor whose translations differ from those of others, unless -any-bits
// allows them.
func (s *Flags) CheckBits() error {
	return cli.UsageIf(!s.AnyBits && mat.Kernel() == "generic",
		"this processor has none of AVX2, AVX-512 and NEON, so that its translations differ from those of others; -any-bits writes them nevertheless")
}
