//go:build ignore

// This program measures the matrix products of gonum for run.sh, which builds it in its own module.
// The arguments are those of peer.c. The number of threads is GOMAXPROCS.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 6 {
		info, _ := debug.ReadBuildInfo()
		for _, m := range info.Deps {
			fmt.Println("gonum", m.Version)
		}
		return
	}
	m, n, k, limit := int(number(1)), int(number(2)), int(number(3)), number(5)
	a, b, c := numbers(m*k), numbers(k*n), make([]float32, m*n)
	transB, ldb := blas.NoTrans, n
	if number(4) != 0 {
		transB, ldb = blas.Trans, k
	}
	call := func() {
		gonum.Implementation{}.Sgemm(blas.NoTrans, transB, m, n, k, 1, a, k, b, ldb, 0, c, n)
	}

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
	fmt.Printf("%.2f\n", 2e-9*float64(m)*float64(n)*float64(k)/best)
}

// numbers returns n values in [-0.5, 0.5).
func numbers(n int) []float32 {
	x, state := make([]float32, n), uint32(1)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = float32(state>>8)*0x1p-24 - 0.5
	}
	return x
}

func number(arg int) float64 {
	x, err := strconv.ParseFloat(os.Args[arg], 64)
	if err != nil {
		log.Fatal(err)
	}
	return x
}
