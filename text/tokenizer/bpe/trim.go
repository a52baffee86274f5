package bpe

// Trim returns a tokenizer without the merges that used pieces do not consist of: used[id] tells
// whether the piece of an id of t is used. A text whose pieces are all used keeps them, because
// the others take part in none of its merges; any other text has shorter pieces.
func (t *Tokenizer) Trim(used []bool) (*Tokenizer, error) {
	keep := append([]bool(nil), used...)
	for k := len(t.merges) - 1; k >= 0; k-- { // a merge comes after those that it joins
		if keep[firstMerge+k] {
			keep[t.merges[k].left], keep[t.merges[k].right] = true, true
		}
	}
	ids := make([]int32, len(t.pieces)) // of the pieces that are kept
	var merges []pair
	for id := range ids {
		switch ids[id] = int32(id); {
		case id < firstMerge:
		case keep[id]:
			ids[id] = int32(firstMerge + len(merges))
			m := t.merges[id-firstMerge]
			merges = append(merges, pair{ids[m.left], ids[m.right]})
		}
	}
	return newTokenizer(merges)
}
