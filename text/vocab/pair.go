package vocab

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tfm/text"
)

// Pair holds the tokenizers of a model, which are the same for a joint vocabulary. It is safe for
// concurrent use.
type Pair struct{ Source, Target text.Tokenizer }

// Joint reports whether source and target share one tokenizer. Tokenizers that Go cannot compare,
// such as structs with slices, count as different.
func (p Pair) Joint() bool {
	return reflect.ValueOf(p.Source).Comparable() && reflect.ValueOf(p.Target).Comparable() && p.Source == p.Target
}

// The keys of the tokenizers in a model file: joint alone, or source and target.
const (
	joint  = "joint"
	source = "source"
	target = "target"
)

// Marshal encodes the tokenizers for a model file, under the key "joint", or under "source" and
// "target".
func (p Pair) Marshal() (map[string][]byte, error) {
	src, err := p.Source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if p.Joint() {
		return map[string][]byte{joint: src}, nil
	}
	tgt, err := p.Target.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{source: src, target: tgt}, nil
}

// UnmarshalPair decodes the output of Marshal. Errors name the key.
func UnmarshalPair(files map[string][]byte) (Pair, error) {
	keys := slices.Sorted(maps.Keys(files))
	if !slices.Equal(keys, []string{joint}) && !slices.Equal(keys, []string{source, target}) {
		const maxShown = 5
		return Pair{}, fmt.Errorf("found %d tokenizers, %.40q, expected %q, or %q and %q",
			len(keys), keys[:min(maxShown, len(keys))], joint, source, target)
	}
	tokenizers := map[string]text.Tokenizer{}
	for _, key := range keys {
		t, err := Unmarshal(files[key])
		if err != nil {
			return Pair{}, fmt.Errorf("%s tokenizer: %w", key, err)
		}
		tokenizers[key] = t
	}
	if t, ok := tokenizers[joint]; ok {
		return Pair{t, t}, nil
	}
	return Pair{tokenizers[source], tokenizers[target]}, nil
}

// Equal reports whether p and q have equal encodings.
func (p Pair) Equal(q Pair) (bool, error) {
	a, err := p.Marshal()
	if err != nil {
		return false, err
	}
	b, err := q.Marshal()
	return maps.EqualFunc(a, b, bytes.Equal), err
}
