package model

import (
	"fmt"
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// CarryOver initializes the weights of t from a trained model whose vocabularies may differ. For
// each id of t's vocabularies, src and tgt list the ids of from's vocabularies that it replaces:
// the id's rows of the embedding and of the output matrix, and its output bias, become the mean of
// theirs. An id that replaces none keeps its weights, for example those of Init. CarryOver copies
// all other weights.
//
// Each of the three matrices that a Config can tie is carried from the same matrix of from, however
// the two models tie them; if t ties all three and from does not, from the source embedding. An
// output bias of -Inf, which no loss can use, becomes impossibleBias.
// CarryOver returns an error that names the tensor if from lacks one or has it in another shape. It
// panics if src or tgt does not have the length of t's vocabulary, or contains an id outside
// from's.
func (t *Transformer) CarryOver(from *Transformer, src, tgt [][]int32) error {
	if len(src) != t.Config.SrcVocab || len(tgt) != t.Config.TgtVocab {
		panic(fmt.Sprintf("model: CarryOver of %d and %d ids, want %d and %d", len(src), len(tgt), t.Config.SrcVocab, t.Config.TgtVocab))
	}
	type table struct { // a parameter with a row for each piece of a vocabulary
		old  *layer.Param
		rows [][]int32
	}
	tables := map[*layer.Param]table{
		t.Output.E:   {from.Output.E, tgt},
		t.TgtEmbed.E: {from.TgtEmbed.E, tgt},
	}
	tables[t.SrcEmbed.E] = table{from.SrcEmbed.E, src} // replaces the others if tied
	if t.Output.Bias != nil {
		tables[t.Output.Bias] = table{from.Output.Bias, tgt}
	}
	for _, p := range t.Params.List {
		source, isTable := tables[p]
		if !isTable {
			if i := slices.IndexFunc(from.Params.List, func(q *layer.Param) bool { return q.Name == p.Name }); i >= 0 {
				source.old = from.Params.List[i]
			}
		}
		old := source.old
		switch {
		case old == nil:
			return fmt.Errorf("initial model: tensor %q is missing", p.Name)
		case !isTable && !slices.Equal(old.Shape, p.Shape), isTable && !slices.Equal(old.Shape[1:], p.Shape[1:]):
			return fmt.Errorf("initial model: tensor %q has shape %v, expected %v", p.Name, old.Shape, p.Shape)
		case isTable:
			carryRows(p, old, source.rows)
		default:
			copy(p.W, old.W)
		}
	}
	if t.Output.Bias != nil {
		for i, b := range t.Output.Bias.W {
			t.Output.Bias.W[i] = max(b, impossibleBias)
		}
	}
	return nil
}

// impossibleBias is an output bias with which the probability of a piece is 0 in float32, and the
// loss with label smoothing finite.
const impossibleBias = -200

// carryRows sets row i of p to the mean of the rows of old that rows[i] lists.
func carryRows(p, old *layer.Param, rows [][]int32) {
	width := p.Size() / p.Shape[0] // 1 for a bias
	for i, ids := range rows {
		if len(ids) == 0 {
			continue
		}
		row := p.W[i*width : (i+1)*width]
		clear(row)
		for _, id := range ids {
			mat.Add(row, old.W[int(id)*width:(int(id)+1)*width])
		}
		if len(ids) > 1 {
			mat.Scal(1/float32(len(ids)), row)
		}
	}
}
