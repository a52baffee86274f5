package cli

import (
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// value is the value of a flag, *p.
type value[T any] struct {
	p        *T
	parse    func(s string) (T, error)
	expected string // in the error of a value that parse refuses
}

func (v *value[T]) String() string { return fmt.Sprint(*v.p) }

func (v *value[T]) Set(s string) error {
	x, err := v.parse(s)
	if errors.Is(err, strconv.ErrRange) {
		return errors.New("expected a number closer to 0")
	}
	if err != nil {
		return errors.New("expected " + v.expected)
	}
	*v.p = x
	return nil
}

// The kinds of numbers.
const (
	wholeNumber = "a whole number, without commas"
	anyNumber   = "a number, without commas"
)

func newString(p *string) *value[string] {
	return &value[string]{p, func(s string) (string, error) { return s, nil }, ""}
}

func newInt(p *int) *value[int] {
	parse := func(s string) (int, error) {
		n, err := strconv.ParseInt(s, 0, strconv.IntSize)
		return int(n), err
	}
	return &value[int]{p, parse, wholeNumber}
}

func newUint64(p *uint64) *value[uint64] {
	parse := func(s string) (uint64, error) { return strconv.ParseUint(s, 0, 64) }
	return &value[uint64]{p, parse, wholeNumber + ", from 0"}
}

func newFloat64(p *float64) *value[float64] {
	parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	return &value[float64]{p, parse, anyNumber}
}

func newFloat32(p *float32) *value[float32] {
	parse := func(s string) (float32, error) {
		x, err := strconv.ParseFloat(s, 32)
		return float32(x), err
	}
	return &value[float32]{p, parse, anyNumber}
}

func newDuration(p *time.Duration) *value[time.Duration] {
	return &value[time.Duration]{p, time.ParseDuration, "a duration such as 90s, 15m or 1h30m"}
}

// limited is a whole number from lo to hi.
type limited struct {
	*value[int]
	lo, hi int
}

func (v limited) Set(s string) error {
	n, err := v.parse(s)
	if errors.Is(err, strconv.ErrRange) || err == nil && (n < v.lo || n > v.hi) {
		return fmt.Errorf("expected %d to %d", v.lo, v.hi)
	}
	return v.value.Set(s)
}

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

// textValue is a flag whose value has a text.
type textValue struct{ encoding.TextUnmarshaler }

func (v textValue) Set(s string) error { return v.UnmarshalText([]byte(s)) }

func (v textValue) String() string {
	text, _ := v.TextUnmarshaler.(encoding.TextMarshaler).MarshalText()
	return string(text)
}

// funcValue is a flag that has no value and calls a function.
type funcValue func(string) error

func (do funcValue) Set(s string) error { return do(s) }

func (funcValue) String() string { return "" }

// orList lists names: a, b or c.
func orList(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
