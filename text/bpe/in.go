package bpe

// In says what each id of b was in another tokenizer, so that what was learned of the
// one can be carried over to the other: out[id] is the same piece of old alone if
// old has it, else the pieces that old splits its bytes into. The special ids and
// the bytes are the same in every Tokenizer. It is safe for concurrent use.
func (t *Tokenizer) In(old *Tokenizer) (out [][]int32) {
	// Two ids may stand for the same bytes, made by other merges; the first of b is then the first of old, and so on.
	of := map[string][]int32{}
	for id, piece := range old.pieces {
		of[piece] = append(of[piece], int32(id))
	}
	e := t.encoders.Get().(*encoder)
	defer t.encoders.Put(e)
	seen := map[string]int{}
	out = make([][]int32, len(t.pieces))
	for id, piece := range t.pieces {
		if id < firstMerge {
			out[id] = []int32{int32(id)}
			continue
		}
		if same := of[piece]; len(same) > 0 {
			k := min(seen[piece], len(same)-1)
			out[id] = same[k : k+1]
			seen[piece]++
			continue
		}
		out[id] = e.encode(nil, []byte(piece), old, nil)
	}
	return out
}
