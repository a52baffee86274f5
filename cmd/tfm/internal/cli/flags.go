package cli

import (
	"flag"
	"runtime"
)

// Given returns the flags that have been set, with their values.
func Given(f *flag.FlagSet) map[string]string {
	values := map[string]string{}
	f.Visit(func(g *flag.Flag) { values[g.Name] = g.Value.String() })
	return values
}

// Values returns the values of all flags.
func Values(f *flag.FlagSet) map[string]string {
	values := map[string]string{}
	f.VisitAll(func(g *flag.Flag) { values[g.Name] = g.Value.String() })
	return values
}

// SetAgain sets flags to values that they had, after the variables behind them were given other defaults.
func SetAgain(f *flag.FlagSet, values map[string]string) error {
	for name, v := range values {
		if err := f.Set(name, v); err != nil {
			return err
		}
	}
	return nil
}

// ThreadsFlag declares -threads, whose default is the number of processors that Go uses.
func ThreadsFlag(f *flag.FlagSet, n *int) {
	f.IntVar(n, "threads", runtime.GOMAXPROCS(0), "threads; the results do not depend on them")
}

// CheckThreads is an error if n is out of range.
func CheckThreads(n int) error {
	if most := 4096; n < 1 || n > most {
		return Usagef("-threads %d: must be 1 to %d", n, most)
	}
	return nil
}
