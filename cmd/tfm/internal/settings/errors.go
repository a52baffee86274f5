package settings

import (
	"errors"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
)

// Error joins errs into a UsageError, nil if all are nil. In a *model.FieldError it replaces the
// name of the field by that of its flag.
func Error(errs ...error) error {
	var messages []string
	for _, err := range errs {
		var invalid *model.FieldError
		switch {
		case errors.As(err, &invalid):
			e := *invalid
			e.Field = "-" + flagOf(e.Field)
			messages = append(messages, e.Error())
		case err != nil:
			messages = append(messages, err.Error())
		}
	}
	if messages == nil {
		return nil
	}
	return cli.UsageError{Message: strings.Join(messages, "\n")}
}

// flagOf returns the flag of a field of model.Config, decode.Options or train.Options.
func flagOf(field string) string {
	switch field = strings.TrimPrefix(field, "search."); field {
	case "smoothing":
		return "smoothing-over"
	case "biases":
		return "bias"
	case "start":
		return "init"
	}
	return strings.ReplaceAll(field, "_", "-")
}
