// Package strict decodes JSON that this program wrote, from files that others may have edited. It
// imports only the standard library.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Unmarshal decodes text, one JSON object, into the struct that v points to. Unlike json.Unmarshal
// it rejects unknown fields, fields whose names differ in case, duplicate fields, null, half of a
// surrogate pair, and text other than white space after the object. Fields that are not in text
// keep their values. It allocates a small multiple of len(text).
//
// The fields in text must be structs, basic types, or types with UnmarshalText, and no field of v
// may be embedded. Otherwise, or if v is not a pointer to a struct, Unmarshal panics. Errors name
// the field, the value found and the type expected; after an error *v is unspecified.
func Unmarshal(text []byte, v any) error {
	pointer := reflect.ValueOf(v)
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("strict: found %T, expected a pointer to a struct", v))
	}
	if halfSurrogate(text) {
		return errors.New("found half of a surrogate pair")
	}
	err := unmarshalObject(text, pointer.Elem())
	if err == io.EOF { // from Decoder.Token, if text ends before a token
		return io.ErrUnexpectedEOF
	}
	return err
}

// halfSurrogate reports whether an escape in text is half of a surrogate pair, which encoding/json
// decodes as U+FFFD. Other escapes have two bytes, or six like \u0041 without a second backslash,
// so that skipping two bytes is enough.
func halfSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if r := escaped(text[i:]); utf16.IsSurrogate(r) {
			if utf16.DecodeRune(r, escaped(text[i+6:])) == unicode.ReplacementChar {
				return true
			}
			i += 10 // with the i++ below and the loop's, the twelve bytes of the pair
		}
		i++
	}
	return false
}

// escaped returns the code unit of the escape \uXXXX at the start of text, or -1 without one.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func unmarshalObject(text []byte, object reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(text))
	start, err := d.Token()
	if err != nil {
		return err
	}
	if start != json.Delim('{') {
		return fmt.Errorf("found %.80s, expected an object", text)
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name := key.(string)
		field, err := fieldOf(object, name)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("found field %q twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := unmarshalField(value, field); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if after := bytes.TrimSpace(text[d.InputOffset():]); len(after) > 0 {
		return fmt.Errorf("found %.1q after the object, expected nothing", after)
	}
	return nil
}

// fieldOf returns the field of object with the given name in JSON.
func fieldOf(object reflect.Value, name string) (reflect.Value, error) {
	similar := ""
	for i := range object.NumField() {
		field := object.Type().Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous {
			panic(fmt.Sprintf("strict: found embedded field %s, expected named fields", field.Name))
		}
		if !field.IsExported() || tag == "-" {
			continue
		}
		if tag == "" {
			tag = field.Name
		}
		if tag == name {
			return object.Field(i), nil
		}
		if strings.EqualFold(tag, name) {
			similar = fmt.Sprintf(", expected %q", tag)
		}
	}
	return reflect.Value{}, fmt.Errorf("unknown field %.80q%s", name, similar)
}

func unmarshalField(text []byte, field reflect.Value) error {
	_, isText := field.Addr().Interface().(interface{ UnmarshalText([]byte) error })
	switch kind := field.Kind(); {
	case kind == reflect.Struct && !isText:
		return unmarshalObject(text, field)
	case !isText && (kind < reflect.Bool || kind > reflect.Float64) && kind != reflect.String:
		panic(fmt.Sprintf("strict: found a field of type %v, expected a struct, a basic type or one with UnmarshalText", field.Type()))
	}
	err := json.Unmarshal(text, field.Addr().Interface()) // accepts null and then sets nothing
	if wrongType := new(json.UnmarshalTypeError); errors.As(err, &wrongType) || string(text) == "null" {
		return fmt.Errorf("found %.80s, expected %v", text, field.Type())
	}
	return err
}
