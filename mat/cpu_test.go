package mat

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// tested lists the kernels that tests run: all that the machine supports, including portable Go;
// with TFM_CPU only the selected one; under the race detector the best one and portable Go, because
// all assembly kernels divide their work among goroutines alike.
var tested = func() []isa {
	switch {
	case os.Getenv("TFM_CPU") != "":
		return []isa{kernel}
	case race:
		return slices.Compact([]isa{supported[0], generic})
	}
	return supported
}()

// thin reports whether tests draw a tenth of their random products: under the race detector, which
// does not check arithmetic, and for portable Go with -short, which is slowest in an emulator.
func thin() bool { return race || testing.Short() && kernel == generic }

// forEachKernel runs f once for each tested kernel.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(k isa) { kernel = k }(kernel)
	for _, k := range tested {
		kernel = k
		t.Run("kernel="+k.String(), f)
	}
}

func TestChooseKernel(t *testing.T) {
	if k, err := choose(""); k != supported[0] || err != nil {
		t.Errorf(`choose("") = %v, %v, want %v`, k, err, supported[0])
	}
	for _, want := range supported {
		if k, err := choose(want.String()); k != want || err != nil {
			t.Errorf("choose(%q) = %v, %v", want, k, err)
		}
	}
	for _, name := range []string{"z80", "AVX2", "generic "} {
		k, err := choose(name)
		if k != supported[0] || err == nil || !strings.Contains(err.Error(), "TFM_CPU="+name) {
			t.Errorf("choose(%q) = %v, %v, want %v and an error", name, k, err, supported[0])
		}
	}
}

func TestFeatures(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		needs := map[isa][]string{
			avx512: {"avx2", "fma", "avx512f", "avx512vl", "avx512bw", "avx512dq"},
			avx2:   {"avx2", "fma"},
			neon:   {"asimd"},
		}[kernel]
		inUse := map[string]bool{}
		for _, f := range Features() {
			if f.InUse && !f.Has {
				t.Errorf("%s is in use on a machine without it", f.Name)
			}
			if wide := strings.HasPrefix(f.Name, "avx512"); f.InUse && (kernel == generic || wide && kernel != avx512) {
				t.Errorf("%s is in use with the %v kernels", f.Name, kernel)
			}
			inUse[f.Name] = f.InUse
		}
		for _, name := range needs {
			if !inUse[name] {
				t.Errorf("%s is not in use", name)
			}
		}
	})
}
