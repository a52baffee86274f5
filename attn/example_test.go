package attn_test

import (
	"fmt"

	"tfm/attn"
	"tfm/mat"
)

// A batch of two sentences of one and two tokens: sentence 0 is row 0, and sentence 1 rows 1 and 2.
// There is no padding.
func ExampleScaledDotProductHeads() {
	x := mat.Of([]float32{
		1, 1,
		2, 0,
		2, 0,
	}, 3, 2)
	ctx, starts := mat.New(3, 2), []int32{0, 1, 3}
	attn.ScaledDotProductHeads(nil, ctx, attn.Inputs{Q: x, K: x, V: x}, 1, attn.Ragged{QStarts: starts, KStarts: starts})
	for i := range ctx.Rows {
		fmt.Printf("%.2f\n", ctx.Row(i))
	}
	// Output:
	// [1.00 1.00]
	// [2.00 0.00]
	// [2.00 0.00]
}
