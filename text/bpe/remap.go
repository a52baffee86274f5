package bpe

// Remap returns the ids in old of each id of t, so that what a model learned with old can be carried
// over to t: out[id] is the one id of the same piece if old has it, else the pieces into which old
// splits its bytes. The special ids and the bytes are the same in every Tokenizer. It is safe for
// concurrent use.
func (t *Tokenizer) Remap(old *Tokenizer) (out [][]int32) {
	// Two ids can have the same bytes, made by different merges: the first of t is the first of
	// old, and so on.
	of := map[string][]int32{}
	for id, piece := range old.pieces {
		of[piece] = append(of[piece], int32(id))
	}
	e := t.encoders.Get().(*wordEncoder)
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
