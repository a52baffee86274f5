package parts

import "tfm/model"

// Refuse returns the error of a setting of one side of a conversion that the other side does not
// have, a *model.FieldError, or nil unless broken.
func Refuse(broken bool, name string, found any, expected string) error {
	if !broken {
		return nil
	}
	return &model.FieldError{Field: name, Found: found, Expected: expected}
}

// TextOf returns the name of a setting's value.
func TextOf(v interface{ MarshalText() ([]byte, error) }) string {
	text, err := v.MarshalText()
	if err != nil {
		return err.Error()
	}
	return string(text)
}
