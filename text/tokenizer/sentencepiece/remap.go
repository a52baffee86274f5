package sentencepiece

import "tfm/text"

// Remap returns the ids of old for each id of t, so that weights learned with old can be carried
// over to t: out[id] is the id of the same piece in old, or if old lacks it, the ids into which old
// splits its text. Special ids are the same in every Tokenizer. Pieces that are not matched in text
// and that old lacks become old's unknown piece.
func (t *Tokenizer) Remap(old *Tokenizer) (out [][]int32) {
	out = make([][]int32, t.Size())
	sc := old.scratch.Get().(*scratch)
	defer old.release(sc)
	for id := range out {
		file := t.fromText[id]
		if int32(id) <= text.EOS {
			out[id] = []int32{int32(id)}
			continue
		}
		p := &t.model.Pieces[file]
		same, reserved := old.reserved[p.Text]
		switch {
		case p.Type == Unknown:
			same = old.unknown
		case p.matched():
			var ok bool
			if same, ok = old.ids[p.Text]; !ok {
				ids := old.encodeNormal(nil, []byte(p.Text), sc)
				old.renumber(ids)
				out[id] = ids
				continue
			}
		case !reserved:
			same = old.unknown
		}
		out[id] = []int32{old.toText[same]}
	}
	return out
}
