package cli

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NotValue is a flag that is true if the value is false.
type NotValue bool

func (v *NotValue) String() string { return strconv.FormatBool(!bool(*v)) }

func (v *NotValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	*v = NotValue(!b)
	return err
}

func (v *NotValue) IsBoolFlag() bool { return true }

// DurationValue is a flag whose error names the expected units.
type DurationValue time.Duration

func (v *DurationValue) String() string { return time.Duration(*v).String() }

func (v *DurationValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("expected a duration such as 90s, 15m or 1h30m")
	}
	*v = DurationValue(d)
	return nil
}

// Float32Value is a flag of type float32.
type Float32Value float32

func (v *Float32Value) String() string {
	return strconv.FormatFloat(float64(*v), 'g', -1, 32)
}

func (v *Float32Value) Set(s string) error {
	x, err := strconv.ParseFloat(s, 32)
	if err != nil {
		return err
	}
	*v = Float32Value(x)
	return nil
}

// choiceValue is the value of a flag with choices.
type choiceValue struct {
	flag.Value
	flag *Flag
}

// maxListed limits the choices that an error lists beside a suggestion.
const maxListed = 8

func (v *choiceValue) Set(s string) error {
	var refused error
	if v.flag.text && s != v.flag.DefValue && !slices.Contains(v.flag.choices, s) {
		refused = errors.New("expected " + orList(v.flag.choices))
	} else if refused = v.Value.Set(s); refused == nil {
		return nil
	}
	f := v.flag.flags
	if f.meant = Nearest(s, v.flag.choices); f.meant != "" && len(v.flag.choices) > maxListed {
		return errors.New("unknown name")
	}
	return refused
}

// Refused returns the UsageError of a value that a flag's Set refused with err.
func (f *Flags) Refused(err error, format string, args ...any) error {
	return UsageError{Message: fmt.Sprintf(format, args...) + ": " + err.Error(), Meant: f.meant}
}

func (v *choiceValue) IsBoolFlag() bool {
	b, ok := v.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// orList lists names: a, b or c.
func orList(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
