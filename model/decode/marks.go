package decode

import (
	"tfm/mat"
	"tfm/model"
)

// marksLast turns the weights of a source, n elements of row, into those of its text and then one
// element for its marks: the sum of their weights, 0 without marks.
func marksLast(row []float32, n int, marks model.SourceLayout) {
	if !marks.HasBOS() && !marks.HasEOS() {
		row[n] = 0
	}
	if !marks.HasBOS() {
		return
	}
	bos := row[0]
	copy(row, row[1:n])
	if marks.HasEOS() {
		row[n-2] += bos
	} else {
		row[n-1] = bos
	}
}

// marksToLast returns a copy of weights with rows as marksLast makes them, of cols elements.
func marksToLast(weights mat.Matrix, cols int, marks model.SourceLayout) mat.Matrix {
	m, row := mat.New(weights.Rows, cols), make([]float32, weights.Cols+1)
	for i := range m.Rows {
		copy(row, weights.Row(i))
		marksLast(row, weights.Cols, marks)
		copy(m.Row(i), row)
	}
	return m
}
