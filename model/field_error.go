package model

import "fmt"

// FieldError says which field of a Config, or of another struct of settings, is invalid.
type FieldError struct {
	Field    string // its name in JSON: "d_model"
	Found    any
	Expected string // what would be valid: "1 to 1000"
}

func (e *FieldError) Error() string {
	found := fmt.Sprint(e.Found)
	if s, ok := e.Found.(string); ok {
		found = fmt.Sprintf("%.80q", s) // which may be a file's
	}
	return fmt.Sprintf("%s is %s, expected %s", e.Field, found, e.Expected)
}
