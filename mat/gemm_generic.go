package mat

// gemmGeneric is Gemm in the plainest order: the reference for the kernels, and the path of machines that
// have none. Here a product is rounded before it is added, unless the compiler fuses the two.
func gemmGeneric(c, a, b Matrix, o Product) {
	for i := range c.Rows {
		row := c.Row(i)
		if !o.Accumulate {
			clear(row)
		}
		for k := range a.Cols {
			aik := a.At(i, k)
			if b.ColStride == 1 {
				for j, bkj := range b.Row(k) {
					row[j] += aik * bkj
				}
			} else {
				for j := range row {
					row[j] += aik * b.Data[k*b.RowStride+j*b.ColStride]
				}
			}
		}
		for j := range row {
			if o.Bias != nil {
				row[j] += o.Bias[j]
			}
			if o.ReLU && !(row[j] > 0) {
				row[j] = 0
			}
		}
	}
}
