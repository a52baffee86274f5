package settings

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/model/decode"
)

// SearchFlags declares the flags of a search, with a beam that is the command's.
func SearchFlags(f *cli.Flags, beam int) *decode.Options {
	s := decode.DefaultOptions()
	f.IntVar(&s.Beam, "beam", beam, "hypotheses kept at each decode step; 1 is greedy").Default("the model's")
	for _, g := range penaltyFlags(f, &s, "divisor of the log-probability") {
		g.Default("the model's")
	}
	f.IntVar(&s.MaxExtra, "max-extra", s.MaxExtra, "limit of target tokens, in addition to the number of source tokens").Default("the model's").Range(0, 1<<16-1).Setting()
	return &s
}

// ConstraintFlags declares the flags of the limits of lengths and repetitions.
func ConstraintFlags(f *cli.Flags, s *decode.Options) {
	f.IntVar(&s.MinTokens, "min-tokens", 0, "least number of target tokens").Setting()
	f.IntVar(&s.MaxTokens, "max-tokens", 0, "limit of target tokens, in addition to max-extra; 0 is none").Setting()
	f.IntVar(&s.NoRepeat, "no-repeat", 0, "no `N` consecutive tokens occur twice in a translation; 0 is off").Setting()
	f.Float64Var(&s.RepetitionPenalty, "repetition-penalty", 1, "divisor of the logits of tokens that occur in the translation; above 1 avoids them, 1 is off").Setting()
}

// penaltyFlags declares the flags of the length penalty.
func penaltyFlags(f *cli.Flags, s *decode.Options, usage string) []*cli.Flag {
	return []*cli.Flag{
		f.StringVar(&s.Penalty, "length-penalty", s.Penalty, usage+":\n  wu     ((5+length)/6)^alpha, as in the paper\n  power  length^alpha").
			Choices(decode.PenaltyWu, decode.PenaltyPower).Setting(),
		f.Float64Var(&s.Alpha, "alpha", s.Alpha, "exponent of the length penalty").Setting(),
	}
}

// UseModelSearch sets the end rule of s, and unless its flag is in given each part of the length
// penalty, the beam and the length limit, to the model's. A beam that no flag sets has at least
// NBest hypotheses.
func UseModelSearch(s *decode.Options, given map[string]string, model decode.Options) {
	s.Search = model.Search
	beam := max(model.Beam, s.NBest)
	if s.Sample {
		beam = model.Beam
	}
	for name, use := range map[string]func(){
		"length-penalty": func() { s.Penalty = model.Penalty },
		"alpha":          func() { s.Alpha = model.Alpha },
		"beam":           func() { s.Beam = beam },
		"max-extra":      func() { s.MaxExtra, s.LengthFactor = model.MaxExtra, model.LengthFactor },
		"max-tokens":     func() { s.MaxTokens = model.MaxTokens },
	} {
		if _, ok := given[name]; !ok {
			use()
		}
	}
}
