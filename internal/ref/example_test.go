package ref_test

import (
	"fmt"
	"math"

	"tfm/internal/ref"
)

// show prints a matrix, one row a line.
func show(name string, m ref.Matrix) {
	fmt.Println(name)
	for _, row := range m {
		fmt.Printf("  %.2f\n", row)
	}
}

// Two queries and two keys with d_k = 1. The first query's scores are 1·0 and 1·ln 3, their
// exponentials 1 and 3, the weights 1/4 and 3/4. Both scores of the second query are 0.
func ExampleScaledDotProduct() {
	q, k, v := ref.Matrix{{1}, {0}}, ref.Matrix{{0}, {math.Log(3)}}, ref.Matrix{{4, 100}, {8, 200}}
	out, weights := ref.ScaledDotProduct(q, k, v, nil)
	show("weights", weights)
	show("output", out)

	_, weights = ref.ScaledDotProduct(q, k, v, ref.LookAhead)
	show("weights with LookAhead", weights)

	second := func(query, key int) bool { return query == 1 }
	out, _ = ref.ScaledDotProduct(q, k, v, second)
	show("output, the first query without keys", out)
	// Output:
	// weights
	//   [0.25 0.75]
	//   [0.50 0.50]
	// output
	//   [7.00 175.00]
	//   [6.00 150.00]
	// weights with LookAhead
	//   [1.00 0.00]
	//   [0.50 0.50]
	// output, the first query without keys
	//   [0.00 0.00]
	//   [6.00 150.00]
}
