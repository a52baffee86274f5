package mat

import (
	"slices"
	"strings"
	"testing"
)

// tested lists the kernels that tests run: all that the machine supports, including portable Go;
// only the one that MAT_KERNEL or TFM_CPU selects; under the race detector the best one and
// portable Go, because all assembly kernels divide their work among goroutines alike.
var tested = func() []isa {
	switch {
	case kernelName != "":
		return []isa{kernel}
	case race:
		return slices.Compact([]isa{supported[0], generic})
	}
	return supported
}()

// thin reports whether tests draw a tenth of their random products: under the race detector, which
// does not check arithmetic, and for portable Go, which has one loop for all shapes.
func thin() bool { return race || kernel == generic }

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
	if k, err := choose("TFM_CPU", ""); k != supported[0] || err != nil {
		t.Errorf(`choose("TFM_CPU", "") = %v, %v, want %v`, k, err, supported[0])
	}
	for _, want := range supported {
		if k, err := choose("TFM_CPU", want.String()); k != want || err != nil {
			t.Errorf("choose(%q) = %v, %v", want, k, err)
		}
	}
	for _, name := range []string{"z80", "AVX2", "generic "} {
		for _, variable := range []string{"MAT_KERNEL", "TFM_CPU"} {
			k, err := choose(variable, name)
			if k != supported[0] || err == nil || !strings.Contains(err.Error(), variable+"="+name) {
				t.Errorf("choose(%q, %q) = %v, %v, want %v and an error", variable, name, k, err, supported[0])
			}
		}
	}
}

func TestKernelSetting(t *testing.T) {
	for _, c := range []struct{ matKernel, tfmCPU, variable, name string }{
		{"", "", "TFM_CPU", ""},
		{"", "avx2", "TFM_CPU", "avx2"},
		{"generic", "", "MAT_KERNEL", "generic"},
		{"generic", "avx2", "MAT_KERNEL", "generic"},
	} {
		env := map[string]string{"MAT_KERNEL": c.matKernel, "TFM_CPU": c.tfmCPU}
		variable, name := kernelSetting(func(v string) string { return env[v] })
		if variable != c.variable || name != c.name {
			t.Errorf("with %v: %s=%q, want %s=%q", env, variable, name, c.variable, c.name)
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
