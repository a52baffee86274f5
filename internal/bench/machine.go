package bench

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"tfm/mat"
)

// Machine describes the computer. Fields that the operating system does not report are empty or 0.
type Machine struct {
	CPU       string   `json:"cpu"`
	Cores     int      `json:"cores"`
	Cache     int64    `json:"cache_bytes"` // last-level cache
	Memory    int64    `json:"memory_bytes"`
	System    string   `json:"system"` // GOOS/GOARCH, such as linux/amd64
	Go        string   `json:"go"`     // runtime.Version
	Float32   string   `json:"kernels"`
	BF16      string   `json:"kernels_bf16"`
	Int8      string   `json:"kernels_int8"`
	InUse     []string `json:"features_in_use"` // processor features that the kernels use
	Supported []string `json:"features"`        // processor features
}

// Describe returns the description of this machine.
func Describe() Machine {
	m := Machine{
		CPU: colonField("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Cache: cacheBytes(), Memory: meminfo("MemTotal"),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Float32: mat.Kernel(), BF16: mat.KernelBF16(), Int8: mat.KernelInt8(), InUse: []string{}, Supported: []string{},
	}
	for _, f := range mat.Features() {
		if f.InUse {
			m.InUse = append(m.InUse, f.Name)
		}
		if f.Has {
			m.Supported = append(m.Supported, f.Name)
		}
	}
	return m
}

// colonField returns the value of the first line "name: value" of a file, "" if no line matches.
func colonField(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// meminfo returns a field of /proc/meminfo in bytes, 0 if it is unknown.
func meminfo(name string) int64 { return kilobytes(colonField("/proc/meminfo", name), " kB") }

// kilobytes returns the bytes of a number of KiB followed by unit, 0 if s is something else.
func kilobytes(s, unit string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, unit), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// cacheBytes returns the size of the first processor's largest cache, 0 if it is unknown.
func cacheBytes() (largest int64) {
	sizes, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/size")
	for _, path := range sizes {
		text, _ := os.ReadFile(path)
		largest = max(largest, kilobytes(strings.TrimSpace(string(text)), "K"))
	}
	return largest
}

// Limits are the machine's limits on a number of threads: multiply-adds on registers, and memory
// bandwidth.
type Limits struct {
	Threads int    `json:"threads"`
	Float32 Figure `json:"float32_gflops"`
	BF16    Figure `json:"bf16_gflops"`
	Buffer  int64  `json:"buffer_bytes"`
	Beyond  bool   `json:"buffer_beyond_cache"`     // the buffers exceed the cache: rates are memory's
	Update  Figure `json:"update_bytes_per_second"` // y += a·x: two floats read, one written
}

// MeasureLimits measures the limits of the given number of threads. The memory buffers together
// are four times the last-level cache, but at most half of the free memory; with quick they are
// 64 MiB.
func MeasureLimits(threads int, e Effort, quick bool) Limits {
	cache := cacheBytes()
	free := cmp.Or(meminfo("MemAvailable"), 2<<30) // assumed if unknown
	bytes := min(4*max(cache, 64<<20), free/2)
	if quick {
		bytes = 64 << 20
	}
	n := int(bytes/8) / threads // floats in each of a thread's two buffers
	l := Limits{Threads: threads, Buffer: int64(8 * n * threads)}
	l.Beyond = cache > 0 && l.Buffer >= 3*cache
	l.Float32 = e.measure(func() float64 { return peak(threads, false) })
	l.BF16 = e.measure(func() float64 { return peak(threads, true) })
	x, y := make([][]float32, threads), make([][]float32, threads)
	parallel(threads, func(i int) {
		x[i], y[i] = mat.New(1, n).Data, mat.New(1, n).Data
		for j := 0; j < n; j += 1024 { // touches every page, so that none is the shared zero page
			x[i][j], y[i][j] = 1, 1
		}
	})
	l.Update = e.measure(func() float64 {
		start := time.Now()
		parallel(threads, func(i int) { mat.Axpy(0.5, x[i], y[i]) })
		return float64(12*n*threads) / time.Since(start).Seconds()
	})
	return l
}

// parallel calls f(0) to f(threads-1) concurrently and waits for them.
func parallel(threads int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// peak returns the total GFLOP/s of register-only multiply-adds on the given number of threads.
func peak(threads int, bf16 bool) (sum float64) {
	measure := mat.MeasurePeak
	if bf16 {
		measure = mat.MeasurePeakBF16
	}
	each := make([]float64, threads)
	parallel(threads, func(i int) { each[i] = measure(20 * time.Millisecond) })
	for _, x := range each {
		sum += x
	}
	return sum
}
