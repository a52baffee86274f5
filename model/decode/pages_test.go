package decode

import (
	"testing"

	"tfm/attn"
)

// The pages that are kept are limited by those in use and by their size; small batches reuse all.
func TestFreePagesAreLimited(t *testing.T) {
	p := &pagePool{pageLayout: newPageLayout(6, attn.Sizes{Heads: 8, DK: 64, DV: 64})}
	kept := maxFreeFloats / p.floats()
	get := func(n int) (pages []page) {
		for range n {
			pages = append(pages, p.get())
		}
		return pages
	}
	put := func(pages []page) {
		for _, x := range pages {
			p.put(x)
		}
	}
	put(get(kept))
	if n := len(p.free); n != kept || p.used != 0 {
		t.Errorf("%d of %d pages are kept, %d in use, want all and none", n, kept, p.used)
	}
	few := get(3)
	if n := len(p.free); n != kept-3 || p.used != 3 {
		t.Errorf("%d pages are kept, %d in use, want %d and 3", n, p.used, kept-3)
	}
	put(few)
	many := get(5 * kept)
	put(many[:2*kept])
	if n := len(p.free); n < 2*kept || n >= 2*kept+slabFloats/p.floats() {
		t.Errorf("%d pages are kept, want %d and the remainder of a slab while more are in use", n, 2*kept)
	}
	put(many[2*kept:])
	if n := len(p.free); n != kept || p.used != 0 {
		t.Errorf("%d pages are kept, %d in use, want %d and none", n, p.used, kept)
	}
	for i, x := range p.free[:cap(p.free)] {
		if (x != nil) != (i < kept) {
			t.Fatalf("page %d is kept: %t", i, x != nil)
		}
	}
}
