// Measures single-precision matrix products of a BLAS-like library. Build it with -DPEER_OpenBLAS,
// -DPEER_BLIS or -DPEER_oneDNN.
//
//	peer                  prints the library's version and its kernels for this machine
//	peer M N K TRANSB S   prints the GFLOP/s of C = A·B, or A·Bᵀ with TRANSB = 1, row-major: the
//	                      best of the samples, at least a millisecond each, that fit into S seconds
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(PEER_oneDNN)
#include <dnnl.h>
#elif defined(PEER_BLIS)
#include <blis.h>
#else
#include <cblas.h>
#endif

static void library(void) {
#if defined(PEER_oneDNN)
	const dnnl_version_t *v = dnnl_version();
	int isa = dnnl_get_effective_cpu_isa();
	printf("oneDNN %d.%d.%d, kernels %s\n", v->major, v->minor, v->patch,
	       (isa & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core ? "avx512_core or better"
	       : (isa & dnnl_cpu_isa_avx2) == dnnl_cpu_isa_avx2             ? "avx2 or better"
	                                                                   : "below avx2");
#elif defined(PEER_BLIS)
	bli_init(); // selects the kernels
	printf("BLIS %s, kernels %s\n", bli_info_get_version_str(), bli_arch_string(bli_arch_query_id()));
#else
	char name[20] = ""; // the version, which follows the name in the configuration
	sscanf(openblas_get_config(), "OpenBLAS %19s", name);
	printf("OpenBLAS %s, kernels %s\n", name, openblas_get_corename());
#endif
}

static void product(int m, int n, int k, int transB, const float *a, const float *b, float *c) {
#if defined(PEER_oneDNN)
	if (dnnl_sgemm('N', transB ? 'T' : 'N', m, n, k, 1, a, k, b, transB ? k : n, 0, c, n) != dnnl_success) exit(1);
#else
	cblas_sgemm(CblasRowMajor, CblasNoTrans, transB ? CblasTrans : CblasNoTrans, m, n, k, 1, a, k, b, transB ? k : n, 0, c, n);
#endif
}

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// values in [-0.5, 0.5), aligned to 64 bytes
static float *matrix(long n) {
	float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
	unsigned state = 1;
	if (!x) exit(1);
	for (long i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		x[i] = (state >> 8) * 0x1p-24f - 0.5f;
	}
	return x;
}

int main(int argc, char **argv) {
	if (argc != 6) {
		library();
		return 0;
	}
	int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]), transB = atoi(argv[4]);
	double limit = atof(argv[5]);
	float *a = matrix((long)m * k), *b = matrix((long)k * n), *c = matrix((long)m * n);
	product(m, n, k, transB, a, b, c);

	// check one element, so that the time is that of a correct product
	double last = 0;
	for (int l = 0; l < k; l++) last += (double)a[(m - 1L) * k + l] * b[transB ? (n - 1L) * k + l : (long)l * n + n - 1];
	if (!(fabs(c[(long)m * n - 1] - last) < 1e-4 * sqrt(k))) {
		fprintf(stderr, "%s: last element = %g, want %g\n", argv[0], c[(long)m * n - 1], last);
		return 1;
	}

	double start = seconds(), best = INFINITY;
	for (int samples = 0, calls = 1; samples < 3 || seconds() - start < limit; samples++) {
		double t = seconds();
		for (int i = 0; i < calls; i++) product(m, n, k, transB, a, b, c);
		t = (seconds() - t) / calls;
		if (t < best) best = t;
		if (t * calls < 1e-3) calls = 1e-3 / t + 1;
	}
	printf("%.2f\n", 2e-9 * m * n * k / best);
	return 0;
}
