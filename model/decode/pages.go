package decode

import (
	"tfm/attn"
	"tfm/mat"
)

// pageTokens is the number of tokens of a page. Kernels compute their scores in the lanes of a
// vector.
const pageTokens = mat.PageTokens

// page holds the keys and values of 16 tokens in all decoder layers, of self-attention or of
// cross-attention. For each layer it holds the keys of all heads [h × d_k × 16], transposed, and
// then the values [h × 16 × d_v]. All pages of a State have the same size, so that any page can
// be reused for any other.
type page []float32

// pageLayout describes the pages of a model.
type pageLayout struct {
	layers, heads, dk, dv int
	layerFloats           int // elements of a layer
}

func newPageLayout(layers int, s attn.Sizes) pageLayout {
	return pageLayout{layers, s.Heads, s.DK, s.DV, s.Heads * (s.DK + s.DV) * pageTokens}
}

// floatsOfKeys and floatsOfValues return the number of elements of a layer and head.
func (l *pageLayout) floatsOfKeys() int   { return l.dk * pageTokens }
func (l *pageLayout) floatsOfValues() int { return l.dv * pageTokens }

// floats returns the size of a page.
func (l *pageLayout) floats() int { return l.layers * l.layerFloats }

// keys returns the index of the keys of a layer and head in a page.
func (l *pageLayout) keys(layer, head int) int {
	return layer*l.layerFloats + head*l.floatsOfKeys()
}

// values returns the index of the values of a layer and head in a page.
func (l *pageLayout) values(layer, head int) int {
	return l.keys(layer, l.heads) + head*l.floatsOfValues()
}

// pagePool allocates pages and keeps those that are freed: at most as many as are in use, and
// maxFreeFloats elements more. So a State that translated a large batch returns its memory, but
// batches that follow each other reuse pages. A slab holds as many pages as are in use, up to
// 8 MB, in huge pages of the system, because a step with many hypotheses reads all pages from
// memory. The garbage collector frees a slab without pages.
type pagePool struct {
	pageLayout
	used int
	free []page
}

const (
	maxFreeFloats = 16 << 20 // 64 MB
	slabFloats    = 2 << 20  // 8 MB
)

// get returns a page with undefined contents.
func (p *pagePool) get() page {
	p.used++
	if n := len(p.free); n > 0 {
		x := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		return x
	}
	n := p.floats()
	slab := make([]float32, max(1, min(p.used, slabFloats/n))*n)
	mat.HugePages(slab)
	for ; len(slab) > n; slab = slab[n:] {
		p.free = append(p.free, slab[:n:n])
	}
	return slab
}

// put frees a page.
func (p *pagePool) put(x page) {
	p.used--
	p.free = append(p.free, x)
	if limit := p.used + maxFreeFloats/p.floats(); len(p.free) > limit {
		clear(p.free[limit:]) // for the garbage collector
		p.free = p.free[:limit]
	}
}

// floats returns n elements of buf, which it grows if necessary.
func floats(buf *[]float32, n int) []float32 {
	if cap(*buf) < n {
		*buf = make([]float32, n+n/2)
	}
	return (*buf)[:n]
}

// matrix views buf as a rows × cols matrix, and grows it if necessary.
func matrix(buf *[]float32, rows, cols int) mat.Matrix {
	return mat.Of(floats(buf, rows*cols), rows, cols)
}
