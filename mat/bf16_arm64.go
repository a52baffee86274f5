//go:build !purego && !noasm

package mat

func kernelBF16() arithmetic {
	if kernel == generic {
		return portableBF16
	}
	return stripsBF16
}

func (t *product) multiplyBF16(p *Pool, _ arithmetic) { t.multiplyStripsBF16(p) }

func (*tile) runFlushed(s *strip) { stripNEONFlushed(s) }

func bf16Loop(n int) float64 { return fmaLoop(n) }

// stripNEONFlushed is stripNEON with denormal operands and results replaced by 0.
//
//go:noescape
func stripNEONFlushed(s *strip)
