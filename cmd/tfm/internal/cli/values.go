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

// number is a flag whose value is a number, *p.
type number[T int | uint64 | float64] struct {
	p      *T
	parse  func(s string) (T, error)
	format func(T) string
	kind   string // what the flag expects

	limited bool
	lo, hi  T
}

// The kinds of numbers.
const (
	wholeNumber = "a whole number, without commas"
	anyNumber   = "a number, without commas"
)

func newInteger(p *int, value int) *number[int] {
	*p = value
	return &number[int]{p: p, kind: wholeNumber, format: strconv.Itoa, parse: func(s string) (int, error) {
		n, err := strconv.ParseInt(s, 0, strconv.IntSize)
		return int(n), err
	}}
}

func newUnsigned(p *uint64, value uint64) *number[uint64] {
	*p = value
	return &number[uint64]{p: p, kind: wholeNumber + ", from 0", format: func(n uint64) string { return strconv.FormatUint(n, 10) },
		parse: func(s string) (uint64, error) { return strconv.ParseUint(s, 0, 64) }}
}

func newFloat(p *float64, value float64) *number[float64] {
	*p = value
	return &number[float64]{p: p, kind: anyNumber, format: func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) },
		parse: func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }}
}

func (v *number[T]) String() string { return v.format(*v.p) }

func (v *number[T]) Set(s string) error {
	x, err := v.parse(s)
	switch {
	case err != nil && !(v.limited && errors.Is(err, strconv.ErrRange)):
		return errors.New("expected " + v.kind)
	case v.limited && (x < v.lo || x > v.hi):
		return fmt.Errorf("expected %v to %v", v.format(v.lo), v.format(v.hi))
	}
	*v.p = x
	return nil
}

// isWhole reports whether the number is a whole one.
func (v *number[T]) isWhole() bool { return v.kind != anyNumber }

// boolValue is a flag that needs no value to be true.
type boolValue bool

func (v *boolValue) String() string { return strconv.FormatBool(bool(*v)) }

func (v *boolValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("expected true or false")
	}
	*v = boolValue(b)
	return nil
}

func (v *boolValue) IsBoolFlag() bool { return true }

// Float32Value is a flag of type float32.
type Float32Value float32

func (v *Float32Value) String() string {
	return strconv.FormatFloat(float64(*v), 'g', -1, 32)
}

func (v *Float32Value) Set(s string) error {
	x, err := strconv.ParseFloat(s, 32)
	if err != nil {
		return errors.New("expected " + anyNumber)
	}
	*v = Float32Value(x)
	return nil
}

// NotValue is a flag that is true if the value is false.
type NotValue bool

func (v *NotValue) String() string { return strconv.FormatBool(!bool(*v)) }

func (v *NotValue) Set(s string) error {
	var b boolValue
	err := b.Set(s)
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
