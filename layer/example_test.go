package layer_test

import (
	"fmt"

	"tfm/layer"
)

// Positions 0 and 1 in 4 dimensions: the second is sin 1, cos 1, sin 0.01, cos 0.01, because
// 10000^(2/4) is 100.
func ExampleSinusoids() {
	for pe, i := layer.Sinusoids(2, 4), 0; i < pe.Rows; i++ {
		fmt.Printf("%.3f\n", pe.Row(i))
	}
	// Output:
	// [0.000 1.000 0.000 1.000]
	// [0.841 0.540 0.010 1.000]
}
