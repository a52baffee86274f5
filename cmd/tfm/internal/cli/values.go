package cli

import (
	"errors"
	"strconv"
	"time"
)

// NotValue is a flag that is true where the value is false.
type NotValue bool

func (v *NotValue) String() string { return strconv.FormatBool(!bool(*v)) }

func (v *NotValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	*v = NotValue(!b)
	return err
}

func (v *NotValue) IsBoolFlag() bool { return true }

// DurationValue is a flag that says what it expects: who types 15 hears that it lacks the unit.
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
