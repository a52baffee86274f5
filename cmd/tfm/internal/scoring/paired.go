package scoring

import (
	"fmt"
	"slices"
)

// test is a test of the difference between two systems.
type test int

const (
	unpaired test = iota // no test
	pairedBootstrap
	pairedRandomization
)

var testNames = []string{unpaired: "none", pairedBootstrap: "bootstrap", pairedRandomization: "randomization"}

func (t test) String() string { return testNames[t] }

// MarshalText returns the name of t.
func (t test) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets t to the test with a name: none, bootstrap or randomization.
func (t *test) UnmarshalText(name []byte) error {
	i := slices.Index(testNames, string(name))
	if i < 0 {
		return fmt.Errorf("test %q: expected bootstrap, randomization or none", name)
	}
	*t = test(i)
	return nil
}
