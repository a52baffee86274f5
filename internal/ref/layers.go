package ref

import (
	"fmt"
	"math"

	"tfm/layer"
	"tfm/mat"
)

// The equations of package layer as plain loops over tokens.

// LayerNorm returns the layer norm of each row of x [n × d] (Ba et al., 2016; section 3.1), for
// gain [d] and a bias [d] that may be nil. The variance is the biased one and eps is inside the
// root. It panics on other lengths.
//
//	μ = Σ x_j/d   σ² = Σ (x_j-μ)²/d   y_j = (x_j-μ)/sqrt(σ²+eps)·gain_j + bias_j
func LayerNorm(x mat.Matrix, gain, bias []float32, eps float64) mat.Matrix {
	return norm32(x, gain, bias, func(squares float64) float64 {
		return math.Sqrt(squares/float64(x.Cols) + eps)
	})
}

// UnbiasedNorm is LayerNorm with the unbiased standard deviation, and eps outside the root, as in
// some tutorials. d must be at least 2.
//
//	μ = Σ x_j/d   s² = Σ (x_j-μ)²/(d-1)   y_j = (x_j-μ)/(s+eps)·gain_j + bias_j
func UnbiasedNorm(x mat.Matrix, gain, bias []float32, eps float64) mat.Matrix {
	return norm32(x, gain, bias, func(squares float64) float64 {
		return math.Sqrt(squares/float64(x.Cols-1)) + eps
	})
}

// norm32 divides the deviations from the mean by divisor(squares), where squares is the sum of
// their squares.
func norm32(x mat.Matrix, gain, bias []float32, divisor func(squares float64) float64) mat.Matrix {
	if len(gain) != x.Cols || bias != nil && len(bias) != x.Cols {
		panic(fmt.Sprintf("ref: norm of %d × %d with %d gains and %d biases", x.Rows, x.Cols, len(gain), len(bias)))
	}
	y := mat.New(x.Rows, x.Cols)
	for i := range x.Rows {
		var mean, squares float64
		for _, v := range x.Row(i) {
			mean += float64(v) / float64(x.Cols)
		}
		for _, v := range x.Row(i) {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		for j, v := range x.Row(i) {
			normed := (float64(v) - mean) / divisor(squares) * float64(gain[j])
			if bias != nil {
				normed += float64(bias[j])
			}
			y.Row(i)[j] = float32(normed)
		}
	}
	return y
}

// Residual returns x + Dropout(sub) for x and the output sub of a sublayer, both [n × d] (section
// 5.4). Dropout divides the elements that it keeps by 1-Rate and zeroes the others. It panics on
// other shapes.
func Residual(x, sub mat.Matrix, drop mat.Dropout) mat.Matrix {
	if x.Rows != sub.Rows || x.Cols != sub.Cols {
		panic(fmt.Sprintf("ref: residual of %d × %d and %d × %d", x.Rows, x.Cols, sub.Rows, sub.Cols))
	}
	y, mask, ones := mat.New(x.Rows, x.Cols), make([]float32, x.Cols), make([]float32, x.Cols)
	layer.Fill(ones, 1)
	for i := range x.Rows {
		drop.Apply(mask, ones, nil, i*x.Cols) // 0 or 1/(1-Rate)
		for j := range x.Cols {
			y.Row(i)[j] = float32(float64(x.At(i, j)) + float64(mask[j])*float64(sub.At(i, j)))
		}
	}
	return y
}

// AddNorm returns LayerNorm(x + Dropout(sub)), the paper's "Add & Norm" around every sublayer
// (sections 3.1 and 5.4). Its arguments are those of Residual and LayerNorm.
func AddNorm(x, sub mat.Matrix, drop mat.Dropout, gain, bias []float32, eps float64) mat.Matrix {
	return LayerNorm(Residual(x, sub, drop), gain, bias, eps)
}

// FeedForward returns equation 2 (section 3.3) for x [n × d], w1 [d × ff] and w2 [ff × d], and
// for b1 [ff] and b2 [d], which may be nil. It panics on shapes that do not fit.
//
//	FFN(x) = max(0, x·W1 + b1)·W2 + b2
func FeedForward(x, w1 mat.Matrix, b1 []float32, w2 mat.Matrix, b2 []float32) mat.Matrix {
	if x.Cols != w1.Rows || w1.Cols != w2.Rows || b1 != nil && len(b1) != w1.Cols || b2 != nil && len(b2) != w2.Cols {
		panic(fmt.Sprintf("ref: feed-forward network of %d × %d with weights %d × %d and %d × %d and %d and %d biases",
			x.Rows, x.Cols, w1.Rows, w1.Cols, w2.Rows, w2.Cols, len(b1), len(b2)))
	}
	y := mat.New(x.Rows, w2.Cols)
	for i := range x.Rows {
		hidden := make([]float64, w1.Cols)
		for j := range hidden {
			for k, v := range x.Row(i) {
				hidden[j] += float64(v) * float64(w1.At(k, j))
			}
			if b1 != nil {
				hidden[j] += float64(b1[j])
			}
			hidden[j] = max(0, hidden[j])
		}
		for j := range y.Cols {
			var sum float64
			for k, h := range hidden {
				sum += h * float64(w2.At(k, j))
			}
			if b2 != nil {
				sum += float64(b2[j])
			}
			y.Row(i)[j] = float32(sum)
		}
	}
	return y
}

// Embedding returns the scaled rows of e [V × d] for ids (section 3.4) plus their positional
// encodings (section 3.5): x [n × d] of one sentence. It panics on ids outside [0, V).
//
//	x_pos = E[id_pos]·sqrt(d) + PE(pos)
func Embedding(e mat.Matrix, ids []int32) mat.Matrix {
	x := mat.New(len(ids), e.Cols)
	for pos, id := range ids {
		for j, v := range e.Row(int(id)) {
			x.Row(pos)[j] = float32(float64(v)*math.Sqrt(float64(e.Cols)) + Position("interleaved", pos, j, e.Cols))
		}
	}
	return x
}
