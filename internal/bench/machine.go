package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"tfm/mat"
)

// Machine describes where the figures are from. What the operating system does not tell is empty or 0.
type Machine struct {
	CPU       string   `json:"cpu"`
	Cores     int      `json:"cores"`
	Cache     int64    `json:"cache_bytes"` // of the last level
	Memory    int64    `json:"memory_bytes"`
	System    string   `json:"system"` // as in linux/amd64
	Go        string   `json:"go"`
	Float32   string   `json:"kernels"`
	BF16      string   `json:"kernels_bf16"`
	Int8      string   `json:"kernels_int8"`
	InForce   []string `json:"features_in_force"`
	Processor []string `json:"features"`
}

// Describe tells what there is to know without measuring.
func Describe() Machine {
	m := Machine{
		CPU: colonField("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Cache: cache(), Memory: meminfo("MemTotal"),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Float32: mat.Kernel(), BF16: mat.KernelBF16(), Int8: mat.KernelInt8(), InForce: []string{}, Processor: []string{},
	}
	for _, f := range mat.Features() {
		if f.InForce {
			m.InForce = append(m.InForce, f.Name)
		}
		if f.Has {
			m.Processor = append(m.Processor, f.Name)
		}
	}
	return m
}

// colonField is the value of the first line "name: value" of a file, "" if there is none.
func colonField(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func meminfo(name string) int64 { return kilobytes(colonField("/proc/meminfo", name), " kB") }

// kilobytes is a number with a unit of 1024 bytes as the kernel writes it.
func kilobytes(s, unit string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, unit), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// cache is the size of the largest cache that the first processor has.
func cache() (most int64) {
	sizes, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/size")
	for _, path := range sizes {
		text, _ := os.ReadFile(path)
		most = max(most, kilobytes(strings.TrimSpace(string(text)), "K"))
	}
	return most
}

// Limits is what a number of cores can do at best: multiply-adds on registers alone, and moving memory.
type Limits struct {
	Threads int    `json:"threads"`
	Float32 Figure `json:"float32_gflops"`
	BF16    Figure `json:"bf16_gflops"`
	Buffer  int64  `json:"buffer_bytes"`
	Beyond  bool   `json:"buffer_beyond_cache"` // the rates are those of memory, and not of a cache
	Read    Figure `json:"read_bytes_per_second"`
	Copy    Figure `json:"copy_bytes_per_second"`   // what is read and what is written
	Update  Figure `json:"update_bytes_per_second"` // y += a·x: two numbers read, one written
}

// MeasureLimits measures so many threads at once. The buffers for the memory are four times the cache if that is half of
// the memory that is free, or little if it is to be quick.
func MeasureLimits(threads int, e Effort, quick bool) Limits {
	cache := cache()
	bytes := 4 * max(cache, 64<<20)
	if free := meminfo("MemAvailable"); free > 0 {
		bytes = min(bytes, free/2)
	} else {
		bytes = min(bytes, 1<<30)
	}
	if quick {
		bytes = 64 << 20
	}
	n := int(bytes/8) / threads // numbers in each of a thread's two buffers
	l := Limits{Threads: threads, Buffer: int64(8 * n * threads)}
	l.Beyond = cache > 0 && l.Buffer >= 3*cache
	l.Float32 = e.measure(func() float64 { return peak(threads, false) })
	l.BF16 = e.measure(func() float64 { return peak(threads, true) })
	x, y := make([][]float32, threads), make([][]float32, threads)
	together(threads, func(i int) {
		x[i], y[i] = make([]float32, n), make([]float32, n)
		for j := 0; j < n; j += 1024 { // every page gets memory of its own
			x[i][j], y[i][j] = 1, 1
		}
	})
	rate := func(bytes int, pass func(x, y []float32)) Figure {
		return e.measure(func() float64 {
			begun := time.Now()
			together(threads, func(i int) { pass(x[i], y[i]) })
			return float64(bytes*n*threads) / time.Since(begun).Seconds()
		})
	}
	l.Read = rate(8, func(x, y []float32) { runtime.KeepAlive(mat.Sum(x) + mat.Sum(y)) })
	l.Copy = rate(8, func(x, y []float32) { copy(y, x) })
	l.Update = rate(12, func(x, y []float32) { mat.Axpy(y, 0.5, x) })
	return l
}

// together runs f on so many threads, with numbers from 0.
func together(threads int, f func(i int)) {
	var all sync.WaitGroup
	for i := range threads {
		all.Add(1)
		go func() {
			defer all.Done()
			f(i)
		}()
	}
	all.Wait()
}

// peak is the GFLOP/s of multiply-adds on registers alone, on so many threads at once.
func peak(threads int, bf16 bool) (sum float64) {
	measure := mat.MeasurePeak
	if bf16 {
		measure = mat.MeasurePeakBF16
	}
	each := make([]float64, threads)
	together(threads, func(i int) { each[i] = measure(20 * time.Millisecond) })
	for _, x := range each {
		sum += x
	}
	return sum
}
