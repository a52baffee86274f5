package vocab

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tfm/text"
)

// Tokenizers holds the tokenizers of a model, which are the same for a joint vocabulary. It is safe
// for concurrent use.
type Tokenizers struct{ Source, Target text.Tokenizer }

// Joint reports whether source and target share one tokenizer. Tokenizers that Go cannot compare,
// such as structs with slices, count as different.
func (t Tokenizers) Joint() bool {
	return reflect.ValueOf(t.Source).Comparable() && reflect.ValueOf(t.Target).Comparable() && t.Source == t.Target
}

// The keys of the tokenizers in a model file: joint alone, or source and target.
const (
	joint  = "joint"
	source = "source"
	target = "target"
)

// Marshal encodes the tokenizers for a model file, under the key "joint", or under "source" and
// "target".
func (t Tokenizers) Marshal() (map[string][]byte, error) {
	src, err := t.Source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if t.Joint() {
		return map[string][]byte{joint: src}, nil
	}
	tgt, err := t.Target.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{source: src, target: tgt}, nil
}

// UnmarshalTokenizers decodes the output of Marshal. Errors name the key.
func UnmarshalTokenizers(files map[string][]byte) (Tokenizers, error) {
	keys := slices.Sorted(maps.Keys(files))
	if !slices.Equal(keys, []string{joint}) && !slices.Equal(keys, []string{source, target}) {
		const maxShown = 5
		return Tokenizers{}, fmt.Errorf("found %d tokenizers, %.40q, expected %q, or %q and %q",
			len(keys), keys[:min(maxShown, len(keys))], joint, source, target)
	}
	tokenizers := map[string]text.Tokenizer{}
	for _, key := range keys {
		t, err := Unmarshal(files[key])
		if err != nil {
			return Tokenizers{}, fmt.Errorf("%s tokenizer: %w", key, err)
		}
		tokenizers[key] = t
	}
	if t, ok := tokenizers[joint]; ok {
		return Tokenizers{t, t}, nil
	}
	return Tokenizers{tokenizers[source], tokenizers[target]}, nil
}

// Equal reports whether t and u have equal encodings.
func (t Tokenizers) Equal(u Tokenizers) (bool, error) {
	a, err := t.Marshal()
	if err != nil {
		return false, err
	}
	b, err := u.Marshal()
	return maps.EqualFunc(a, b, bytes.Equal), err
}
