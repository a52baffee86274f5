package vocab

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tfm/text"
)

// Pair is the tokenizers of a model. With a joint vocabulary both are the same one. Like them, it
// is safe for concurrent use.
type Pair struct{ Source, Target text.Tokenizer }

// Joint reports whether source and target share one tokenizer. Tokenizers that Go cannot compare,
// because they are structs with slices or maps, are two.
func (p Pair) Joint() bool {
	return reflect.ValueOf(p.Source).Comparable() && reflect.ValueOf(p.Target).Comparable() && p.Source == p.Target
}

// The keys of a model file's tokenizers: joint alone, or the other two.
const (
	joint  = "joint"
	source = "source"
	target = "target"
)

// Marshal returns the tokenizers for a model file, which UnmarshalPair reads: their bytes as
// "joint", or as "source" and "target".
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

// UnmarshalPair returns the tokenizers of a model file. Errors name the tokenizer.
func UnmarshalPair(files map[string][]byte) (Pair, error) {
	keys := slices.Sorted(maps.Keys(files))
	if !slices.Equal(keys, []string{joint}) && !slices.Equal(keys, []string{source, target}) {
		const shown = 5
		return Pair{}, fmt.Errorf("found %d tokenizers, %.40q, expected %q, or %q and %q",
			len(keys), keys[:min(shown, len(keys))], joint, source, target)
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

// Equal reports whether two pairs have equal tokenizers: the same bytes in a file.
func (p Pair) Equal(q Pair) (bool, error) {
	a, err := p.Marshal()
	if err != nil {
		return false, err
	}
	b, err := q.Marshal()
	return maps.EqualFunc(a, b, bytes.Equal), err
}
