package decode

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"tfm/model"
	"tfm/model/safetensors"
)

// Shortlist holds the pieces of the target that may translate each piece of the source, so that a
// decode step can compute the logits of a few pieces instead of all. The list of a source is the
// union of Always and the lists of its pieces. It does not depend on other sources.
//
// In a model file its fields are the tensors "shortlist.always", "shortlist.starts",
// "shortlist.pieces" and, unless it is zero, "shortlist.fill", I32, of one dimension.
type Shortlist struct {
	// Always are the pieces of every list, EOS among them, in ascending order.
	Always []int32

	// The list of source piece i is Pieces[Starts[i]:Starts[i+1]], in ascending order.
	Starts []int32 // [source pieces + 1]
	Pieces []int32

	Fill ShortlistFill
}

// ShortlistFill makes the length of every list a multiple of a number, as Marian does, by the
// lowest further pieces after EOS. The zero value adds none.
type ShortlistFill struct {
	Multiple int32
	Limit    int32 // of the pieces that are added
}

const shortlistPrefix = "shortlist."

// The names of the tensors.
const (
	shortlistAlways = shortlistPrefix + "always"
	shortlistStarts = shortlistPrefix + "starts"
	shortlistPieces = shortlistPrefix + "pieces"
	shortlistFill   = shortlistPrefix + "fill"
)

const maxMultiple = 1024 // of a ShortlistFill

// Of returns the list of source piece i.
func (s *Shortlist) Of(i int32) []int32 { return s.Pieces[s.Starts[i]:s.Starts[i+1]] }

// List appends the list of the source src and the pieces more to ids, in ascending order and each
// once. set is workspace, which calls for the same Shortlist may reuse.
func (s *Shortlist) List(ids, src, more []int32, set *[]uint64) []int32 {
	add := func(list []int32) {
		for _, id := range list {
			for int(id/64) >= len(*set) {
				*set = append(*set, 0)
			}
			(*set)[id/64] |= 1 << (id % 64)
		}
	}
	add(s.Always)
	for _, piece := range src {
		add(s.Of(piece))
	}
	add(more)
	s.Fill.add(set)
	for i, word := range *set {
		for ; word != 0; word &= word - 1 {
			ids = append(ids, int32(64*i+bits.TrailingZeros64(word)))
		}
	}
	clear(*set)
	return ids
}

// add adds the pieces that fill a set.
func (f ShortlistFill) add(set *[]uint64) {
	n := 0
	for _, word := range *set {
		n += bits.OnesCount64(word)
	}
	for id := int32(model.EOS); f.Multiple > 0 && n%int(f.Multiple) > 0 && id < f.Limit; id++ {
		for int(id/64) >= len(*set) {
			*set = append(*set, 0)
		}
		if bit := uint64(1) << (id % 64); (*set)[id/64]&bit == 0 {
			(*set)[id/64] |= bit
			n++
		}
	}
}

// Validate returns an error that names a tensor if s does not fit the vocabularies of c.
func (s *Shortlist) Validate(c model.Config) error {
	fail := func(tensor, format string, args ...any) error {
		return fmt.Errorf("tensor %q: "+format, append([]any{tensor}, args...)...)
	}
	ascending := func(tensor string, first int, ids []int32) error {
		for i, id := range ids {
			switch {
			case id < model.EOS || int(id) >= c.TgtVocab:
				return fail(tensor, "found id %d at index %d, expected %d to %d", id, first+i, model.EOS, c.TgtVocab-1)
			case i > 0 && id <= ids[i-1]:
				return fail(tensor, "found id %d at index %d after %d, expected ascending ids", id, first+i, ids[i-1])
			}
		}
		return nil
	}
	if err := ascending(shortlistAlways, 0, s.Always); err != nil {
		return err
	}
	if len(s.Always) == 0 || s.Always[0] != model.EOS {
		return fail(shortlistAlways, "found no id %d, expected the end of a sentence in every list", model.EOS)
	}
	if f := s.Fill; f != (ShortlistFill{}) && (f.Multiple < 1 || f.Multiple > maxMultiple || f.Limit <= model.EOS || int(f.Limit) > c.TgtVocab) {
		return fail(shortlistFill, "found %v, expected a multiple of 1 to %d and a limit of %d to %d", f, maxMultiple, model.EOS+1, c.TgtVocab)
	}
	if len(s.Starts) != c.SrcVocab+1 {
		return fail(shortlistStarts, "found %d elements, expected %d for %d source pieces", len(s.Starts), c.SrcVocab+1, c.SrcVocab)
	}
	for i, start := range s.Starts {
		if i == 0 && start != 0 || i > 0 && start < s.Starts[i-1] || int(start) > len(s.Pieces) || i == c.SrcVocab && int(start) != len(s.Pieces) {
			return fail(shortlistStarts, "found %d at index %d, expected ascending indices from 0 to %d, the length of %q", start, i, len(s.Pieces), shortlistPieces)
		}
	}
	for i := range c.SrcVocab {
		if err := ascending(shortlistPieces, int(s.Starts[i]), s.Of(int32(i))); err != nil {
			return err
		}
	}
	return nil
}

// Tensors returns the tensors of s, none if s is nil.
func (s *Shortlist) Tensors() []safetensors.Tensor {
	if s == nil {
		return nil
	}
	list := []safetensors.Tensor{
		safetensors.Int32Tensor(shortlistAlways, s.Always),
		safetensors.Int32Tensor(shortlistStarts, s.Starts),
		safetensors.Int32Tensor(shortlistPieces, s.Pieces),
	}
	if f := s.Fill; f != (ShortlistFill{}) {
		list = append(list, safetensors.Int32Tensor(shortlistFill, []int32{f.Multiple, f.Limit}))
	}
	return list
}

// ReadShortlist returns the Shortlist in the tensors of a model file with configuration c, nil if
// it has none. Other tensors are ignored. Errors name the tensor.
func ReadShortlist(tensors []safetensors.Tensor, c model.Config) (*Shortlist, error) {
	s, missing, found := new(Shortlist), "", 0
	var fill []int32
	for _, f := range []struct {
		name string
		data *[]int32
	}{{shortlistAlways, &s.Always}, {shortlistStarts, &s.Starts}, {shortlistPieces, &s.Pieces}, {shortlistFill, &fill}} {
		i := slices.IndexFunc(tensors, func(t safetensors.Tensor) bool { return t.Name == f.name })
		switch {
		case i < 0 && f.name == shortlistFill:
			continue
		case i < 0:
			missing = f.name
			continue
		}
		t := tensors[i]
		found++
		if len(t.Shape) != 1 {
			return nil, fmt.Errorf("tensor %q: found shape %.80s, expected one dimension", f.name, fmt.Sprint(t.Shape))
		}
		var err error
		if *f.data, err = t.Int32s(); err != nil {
			return nil, err
		}
	}
	switch {
	case found == 0:
		return nil, nil
	case missing != "":
		return nil, fmt.Errorf("tensor %q is missing", missing)
	case fill != nil && len(fill) != 2:
		return nil, fmt.Errorf("tensor %q: found %d elements, expected 2", shortlistFill, len(fill))
	case fill != nil:
		s.Fill = ShortlistFill{fill[0], fill[1]}
	}
	if err := s.Validate(c); err != nil {
		return nil, err
	}
	return s, nil
}

// CopyWithShortlist writes a copy of the model file at path, of any form, with the Shortlist s, in
// place of one that it may have, to out. The error is that of a damaged file, which it names, or of
// a Shortlist that does not fit the model.
func CopyWithShortlist(path, out string, s *Shortlist) error {
	if s == nil {
		return errors.New("decode: CopyWithShortlist without a Shortlist")
	}
	return model.CopyFile(path, out, func(h *model.Header, tensors []safetensors.Tensor) ([]safetensors.Tensor, error) {
		if err := s.Validate(h.Config); err != nil {
			return nil, err
		}
		tensors = slices.DeleteFunc(tensors, func(t safetensors.Tensor) bool { return model.IsShortlistTensor(t.Name) })
		return append(tensors, s.Tensors()...), nil
	})
}
