//go:build (amd64 || arm64) && !purego && !noasm

package mat

// The functions of pages_amd64.s and pages_arm64.s, each with its definition in Go.

// scoreKeysAsm is
//
//	for i := range n {
//		for t := range 16 {
//			var x float32
//			for j := range k {
//				x = fma(q[i*qRow+j], keys[i*next+j*16+t], x)
//			}
//			scores[i*scoresRow+t] = x
//		}
//	}
//
//go:noescape
func scoreKeysAsm(s *scoreArgs)

// addValuesAsm is
//
//	for i := range n {
//		for c := range cols {
//			for l := range count {
//				v := values[i*next+tokens[l]%16*token+c]
//				ctx[i*ctxRow+c] = fma(weights[i*weightsRow+l], v, ctx[i*ctxRow+c])
//			}
//		}
//	}
//
//go:noescape
func addValuesAsm(s *valueArgs)
