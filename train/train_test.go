package train

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"

	"tfm/mat"
)

// pool returns a pool that is closed when the test ends.
func pool(t testing.TB, threads int) *mat.Pool {
	p := mat.NewPool(threads)
	t.Cleanup(p.Close)
	return p
}

// wantSameWeights compares the bits of weights.
func wantSameWeights(t *testing.T, name string, got, want []float32) {
	t.Helper()
	if !bytes.Equal(rawBytes(got), rawBytes(want)) {
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%s: weight[%d] = %v, want %v", name, i, got[i], want[i])
			}
		}
		t.Fatalf("%s: weights differ in the sign of a zero or in a NaN", name)
	}
}

func rawBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// wantError fails the test unless err contains all strings.
func wantError(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", wants)
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Fatalf("error %q, want %q in it", err, want)
		}
	}
}
