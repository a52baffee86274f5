package decode

// sourceSet holds the sources of a State.
type sourceSet struct {
	encoded []*encodedSource // by handle
	removed []int32          // handles that the next sources get
	pages   pagePool
	cells   cellStates  // of hypotheses, in the place of pages, in a model with SSRUs
	lists   outputLists // of the sources
}

// encodedSource is a source with its hypotheses.
type encodedSource struct {
	kvCache
	isAdded  bool
	stepping bool        // it has rows in a step, which is not complete
	list     *outputList // of pieces with logits; nil for all
}

// add returns the handle of a new source with pages for its tokens.
func (s *sourceSet) add(tokens int) int32 {
	var h int32
	if n := len(s.removed); n > 0 {
		h, s.removed = s.removed[n-1], s.removed[:n-1]
	} else {
		h, s.encoded = int32(len(s.encoded)), append(s.encoded, new(encodedSource))
	}
	src := s.encoded[h]
	src.isAdded, src.tokens = true, tokens
	for n := 0; n < tokens; n += pageTokens {
		src.cross = append(src.cross, s.pages.get())
	}
	return h
}

func (s *sourceSet) valid(handle int32) bool {
	return handle >= 0 && int(handle) < len(s.encoded) && s.encoded[handle].isAdded
}

func (s *sourceSet) remove(handle int32) {
	src := s.encoded[handle]
	s.lists.put(src.list)
	src.isAdded, src.list = false, nil
	if s.cells.layers > 0 {
		s.cells.put(&src.kvCache)
	}
	src.clear(&s.pages)
	s.removed = append(s.removed, handle)
}
