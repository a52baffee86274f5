//go:build ignore

// This program measures the matrix products of mat for run.sh, as peer.c does those of a library.
//
//	ours                                  prints the kernels in use, or fails if TFM_CPU names
//	                                      unavailable ones
//	ours M N K TRANSB S THREADS [packed]  prints the GFLOP/s of a product, with weights packed in
//	                                      advance if the last argument is present, and the peak
//	                                      GFLOP/s of as many cores, measured right after it
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"runtime"
	"strconv"
	"time"

	"tfm/mat"
)

func main() {
	log.SetFlags(0)
	if err := mat.CheckKernel(); err != nil {
		log.Fatal(err)
	}
	if len(os.Args) < 7 {
		fmt.Printf("%s, kernels %s\n", runtime.Version(), mat.Kernel())
		return
	}
	m, n, k, threads := int(number(1)), int(number(2)), int(number(3)), int(number(6))
	a, b, c := matrix(m, k), matrix(k, n), mat.New(m, n)
	if number(4) != 0 {
		b = matrix(n, k).T()
	}
	pool := mat.NewPool(threads)
	product := func() { mat.Gemm(pool, c, a, b, mat.GemmOptions{}) }
	if len(os.Args) > 7 {
		packed := mat.Pack(nil, b)
		product = func() { mat.GemmPacked(pool, c, a, packed, mat.GemmOptions{}) }
	}
	rate := 2e-9 * float64(m) * float64(n) * float64(k) / best(number(5), product)
	fmt.Printf("%.2f %.2f\n", rate, mat.MeasurePeak(50*time.Millisecond)*float64(threads))
}

// best returns the seconds of a call, the best of the samples that fit into limit seconds.
func best(limit float64, call func()) float64 {
	call()
	best, start := math.Inf(1), time.Now()
	for samples, calls := 0, 1; samples < 3 || time.Since(start).Seconds() < limit; samples++ {
		t := time.Now()
		for range calls {
			call()
		}
		s := time.Since(t).Seconds() / float64(calls)
		best = min(best, s)
		if s*float64(calls) < 1e-3 {
			calls = int(1e-3/s) + 1
		}
	}
	return best
}

// matrix returns a matrix of values in [-0.5, 0.5).
func matrix(rows, cols int) mat.Matrix {
	m, state := mat.New(rows, cols), uint32(1)
	for i := range m.Data {
		state = state*1664525 + 1013904223
		m.Data[i] = float32(state>>8)*0x1p-24 - 0.5
	}
	return m
}

func number(arg int) float64 {
	x, err := strconv.ParseFloat(os.Args[arg], 64)
	if err != nil {
		log.Fatal(err)
	}
	return x
}
