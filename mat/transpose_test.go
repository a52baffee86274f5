package mat

import "testing"

func TestTranspose(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	for _, s := range [][2]int{{0, 0}, {1, 1}, {1, 40}, {40, 1}, {33, 50}} {
		m, n := s[0], s[1]
		from := random(m, n+3).ColRange(2, n+2) // a view of a wider matrix
		to := New(n, m)
		Transpose(p, to, from)
		for i := range n {
			for j := range m {
				if to.At(i, j) != from.At(j, i) {
					t.Fatalf("%d × %d: element (%d, %d) is %v, want %v", m, n, i, j, to.At(i, j), from.At(j, i))
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("shapes that do not match must panic")
		}
	}()
	Transpose(nil, New(2, 3), New(2, 3))
}
