package model

import (
	"fmt"
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// CarryOver sets the weights of t to those of a trained model, so that t can be trained further,
// perhaps with other vocabularies. src and tgt list for each id of t's vocabularies the ids of
// from's that it replaces: its rows of the embedding and of the output matrix, and its output bias,
// become the mean of theirs; an id that replaces none keeps its weights, such as those of Init. All
// other weights are copied.
//
// Each of the three matrices that a Config ties is carried from the same matrix of from, whichever
// of them are tied there or here; if all three are tied in t alone, from the source embedding.
// CarryOver returns an error that names the tensor if from lacks one or has it in another shape. It
// panics if src or tgt are not as long as t's vocabularies or contain an id outside from's.
func (t *Transformer) CarryOver(from *Transformer, src, tgt [][]int32) error {
	if len(src) != t.Config.SrcVocab || len(tgt) != t.Config.TgtVocab {
		panic(fmt.Sprintf("model: CarryOver of %d and %d ids, want %d and %d", len(src), len(tgt), t.Config.SrcVocab, t.Config.TgtVocab))
	}
	type table struct {
		was  *layer.Param
		rows [][]int32
	}
	tables := map[*layer.Param]table{
		t.Output.E:   {from.Output.E, tgt},
		t.TgtEmbed.E: {from.TgtEmbed.E, tgt},
	}
	tables[t.SrcEmbed.E] = table{from.SrcEmbed.E, src} // may be one of the others
	if t.Output.Bias != nil {
		tables[t.Output.Bias] = table{from.Output.Bias, tgt}
	}
	for _, p := range t.Params.List {
		of, isTable := tables[p]
		if !isTable {
			if i := slices.IndexFunc(from.Params.List, func(q *layer.Param) bool { return q.Name == p.Name }); i >= 0 {
				of.was = from.Params.List[i]
			}
		}
		switch {
		case of.was == nil:
			return fmt.Errorf("tensor %q is missing in the model to go on from", p.Name)
		case !isTable && !slices.Equal(of.was.Shape, p.Shape), isTable && !slices.Equal(of.was.Shape[1:], p.Shape[1:]):
			return fmt.Errorf("tensor %q is %v in the model to go on from, expected %v", p.Name, of.was.Shape, p.Shape)
		case isTable:
			carryRows(p, of.was, of.rows)
		default:
			copy(p.W, of.was.W)
		}
	}
	return nil
}

// carryRows sets row i of p to the mean of the rows[i] of was.
func carryRows(p, was *layer.Param, rows [][]int32) {
	width := p.Size() / p.Shape[0] // 1 for a bias
	for i, ids := range rows {
		if len(ids) == 0 {
			continue
		}
		row := p.W[i*width : (i+1)*width]
		clear(row)
		for _, id := range ids {
			mat.Add(row, was.W[int(id)*width:(int(id)+1)*width])
		}
		if len(ids) > 1 {
			mat.Scale(row, 1/float32(len(ids)))
		}
	}
}
