package bpe

// Remap returns the ids of old for each id of t, so that weights learned with old can be carried
// over to t: out[id] is the id of the same piece in old, or if old lacks it, the ids into which old
// splits its bytes. Special ids and bytes have the same ids in every Tokenizer. It is safe for
// concurrent use.
func (t *Tokenizer) Remap(old *Tokenizer) (out [][]int32) {
	// Different merges can make the same bytes: the first such piece of t is the first of old,
	// and so on.
	ids := map[string][]int32{}
	for id, piece := range old.pieces {
		ids[piece] = append(ids[piece], int32(id))
	}
	e := old.encoders.Get().(*wordEncoder)
	defer old.encoders.Put(e)
	seen := map[string]int{}
	out = make([][]int32, len(t.pieces))
	for id, piece := range t.pieces {
		if id < firstMerge {
			out[id] = []int32{int32(id)}
			continue
		}
		if same := ids[piece]; len(same) > 0 {
			k := min(seen[piece], len(same)-1)
			out[id] = same[k : k+1]
			seen[piece]++
			continue
		}
		out[id] = e.encode(nil, []byte(piece))
	}
	return out
}
