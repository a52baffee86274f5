package terminal

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object with its fields in the order of their addition.
type Object struct {
	fields bytes.Buffer
	err    error // the first of Add
}

// Add adds a field. The error of a value without an encoding is that of MarshalJSON.
func (o *Object) Add(name string, value any) *Object {
	if o.fields.Len() > 0 {
		o.fields.WriteByte(',')
	}
	e := json.NewEncoder(&o.fields)
	e.SetEscapeHTML(false)
	for i, v := range []any{name, value} {
		if i > 0 {
			o.fields.WriteByte(':')
		}
		if err := e.Encode(v); err != nil {
			o.err = err
			return o
		}
		o.fields.Truncate(o.fields.Len() - 1) // without the end of the line
	}
	return o
}

// Fields returns the fields as they are in the object, with commas between them.
func (o *Object) Fields() string { return o.fields.String() }

// MarshalJSON returns the object as JSON.
func (o *Object) MarshalJSON() ([]byte, error) { return []byte("{" + o.Fields() + "}"), o.err }
