package settings

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/model/decode"
)

// SearchFlags declares the flags of a search, with a beam that is the command's.
func SearchFlags(f *cli.Flags, beam int) *decode.Options {
	s := decode.DefaultOptions()
	f.IntVar(&s.Beam, "beam", beam, "hypotheses kept at each decode step; 1 is greedy")
	f.Float64Var(&s.Alpha, "alpha", s.Alpha, "exponent of the length penalty")
	f.StringVar(&s.Penalty, "length-penalty", s.Penalty, "divisor of the log-probability:\n  wu     ((5+length)/6)^alpha, as in the paper\n  power  length^alpha").Choices(decode.PenaltyWu, decode.PenaltyPower)
	f.IntVar(&s.MaxExtra, "max-extra", s.MaxExtra, "limit of target tokens, in addition to the number of source tokens")
	return &s
}

// CheckSearch reports the first invalid flag of a search.
func CheckSearch(s decode.Options) error {
	if s.MaxExtra < 0 || s.MaxExtra >= 1<<16 {
		return cli.Usagef("-max-extra %d: must be 0 to %d", s.MaxExtra, 1<<16-1)
	}
	return Error(s.Validate())
}
