package model

import "fmt"

// FieldError reports an invalid field of a Config or of another struct of options.
type FieldError struct {
	Field    string // name in JSON: "d_model"
	Found    any
	Expected string // valid values: "1 to 1000"
}

func (e *FieldError) Error() string {
	found := fmt.Sprint(e.Found)
	if s, ok := e.Found.(string); ok {
		found = fmt.Sprintf("%.80q", s) // may come from a file: quote and truncate
	}
	return fmt.Sprintf("%s is %s, expected %s", e.Field, found, e.Expected)
}
