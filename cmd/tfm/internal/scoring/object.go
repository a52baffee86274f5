package scoring

import (
	"encoding/json"
	"strings"
)

// object is a JSON object with its fields in the order of their addition.
type object struct {
	names  []string
	values []any
}

func (o *object) add(name string, value any) *object {
	o.names, o.values = append(o.names, name), append(o.values, value)
	return o
}

// addSignature adds the fields of a signature, name:value|name:value.
func (o *object) addSignature(signature string) *object {
	for _, field := range strings.Split(signature, "|") {
		name, value, _ := strings.Cut(field, ":")
		o.add(name, value)
	}
	return o
}

// MarshalJSON returns the object as JSON.
func (o *object) MarshalJSON() ([]byte, error) {
	encoded := []byte{'{'}
	for i, name := range o.names {
		n, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			encoded = append(encoded, ", "...)
		}
		encoded = append(append(append(encoded, n...), ": "...), v...)
	}
	return append(encoded, '}'), nil
}
