package convert

import "tfm/model"

// rule is a setting of one side of a conversion that the other side may not have.
type rule struct {
	broken   bool
	name     string
	found    any
	expected string
}

// firstBroken returns the first broken rule as a *model.FieldError, or nil.
func firstBroken(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return &model.FieldError{Field: r.name, Found: r.found, Expected: r.expected}
		}
	}
	return nil
}

// textOf returns the name of a setting's value.
func textOf(v interface{ MarshalText() ([]byte, error) }) string {
	text, err := v.MarshalText()
	if err != nil {
		return err.Error()
	}
	return string(text)
}
