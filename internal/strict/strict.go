// Package strict decodes JSON that this program wrote, from files that others may have edited. It
// imports only the standard library.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Unmarshal decodes text, one JSON object, into the struct that v points to. Unlike json.Unmarshal
// it rejects unknown fields, null, fields that an object has twice, in whatever case, and text
// other than white space after the object. Fields that are not in text keep their values. It
// allocates a small multiple of len(text). Errors have at most 200 bytes; after one *v is
// unspecified.
func Unmarshal(text []byte, v any) error {
	if err := unmarshal(text, v); err != nil {
		return fmt.Errorf("%.200s", err)
	}
	return nil
}

func unmarshal(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if wrongType := new(json.UnmarshalTypeError); errors.As(err, &wrongType) {
		return fmt.Errorf("%s: found %s, expected %v", wrongType.Field, wrongType.Value, wrongType.Type)
	}
	if err == io.EOF { // text is blank
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if after := bytes.TrimSpace(text[d.InputOffset():]); len(after) > 0 {
		return fmt.Errorf("found %.1q after the object, expected nothing", after)
	}
	return check(json.NewDecoder(bytes.NewReader(text)))
}

// check reports null and repeated fields in the next value of d, whose depth encoding/json limits.
func check(d *json.Decoder) error {
	start, err := d.Token()
	if err != nil {
		return err
	}
	if start == nil {
		return errors.New("found null, expected a value")
	}
	if start != json.Delim('{') && start != json.Delim('[') {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		name := ""
		if start == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name = key.(string)
			if seen[strings.ToLower(name)] {
				return fmt.Errorf("found field %q twice", name)
			}
			seen[strings.ToLower(name)] = true
		}
		if err := check(d); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = d.Token()
	return err
}
