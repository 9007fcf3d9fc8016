// Times SGEMM of a BLAS library, or of oneDNN, in a process of its own: blas_times LIBRARY SYMBOL M,N,K,OPS
// ...
//
// The first line says what the library tells of its version and of the kernels that it has picked. Then a
// line for each shape: nanoseconds, the median over samples of at least 2 ms; matrices are random,
// column-major and packed.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void Sgemm(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                   const int*, const float*, const int*, const float*, float*, const int*, size_t, size_t);

// oneDNN's is row-major, and takes its sizes by value.
typedef int DnnlSgemm(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*,
                      int64_t, float, float*, int64_t);
static DnnlSgemm* dnnl_sgemm;
static void sgemm_of_dnnl(const char* a_op, const char* b_op, const int* m, const int* n, const int* k,
                          const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                          const float* beta, float* c, const int* ldc, size_t a_length, size_t b_length) {
  (void)a_length, (void)b_length;
  dnnl_sgemm(*b_op, *a_op, *n, *m, *k, *alpha, b, *ldb, a, *lda, *beta, c, *ldc);
}

typedef const char* Text(void);
static void describe(void* library) {
  Text* const openblas = (Text*)dlsym(library, "openblas_get_config");
  Text* const scipy_openblas = (Text*)dlsym(library, "scipy_openblas_get_config");
  Text* const blis = (Text*)dlsym(library, "bli_info_get_version_str");
  const int* (*const dnnl)(void) = (const int* (*)(void))dlsym(library, "dnnl_version");
  if (openblas != NULL || scipy_openblas != NULL) {
    printf("%s\n", openblas != NULL ? openblas() : scipy_openblas());
  } else if (blis != NULL) {
    int (*const arch)(void) = (int (*)(void))dlsym(library, "bli_arch_query_id");
    const char* (*const text)(int) = (const char* (*)(int))dlsym(library, "bli_arch_string");
    printf("BLIS %s %s\n", blis(), text(arch()));
  } else if (dnnl != NULL) {
    int (*const isa)(void) = (int (*)(void))dlsym(library, "dnnl_get_effective_cpu_isa");
    printf("oneDNN %d.%d.%d isa %#x\n", dnnl()[0], dnnl()[1], dnnl()[2], isa());
  } else {
    printf("-\n");
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static float* matrix(int rows, int cols) {
  const size_t count = (size_t)rows * (size_t)cols;
  float* const values = aligned_alloc(64, (count * sizeof(float) + 127) / 64 * 64);
  for (size_t i = 0; i < count; ++i) {
    values[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  }
  return values;
}

static int in_order(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return difference < 0 ? -1 : difference > 0;
}

int main(int count, char** words) {
  void* const library = count > 3 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  dnnl_sgemm = library == NULL ? NULL : (DnnlSgemm*)dlsym(library, "dnnl_sgemm");
  Sgemm* const sgemm = library == NULL      ? NULL
                       : dnnl_sgemm != NULL ? sgemm_of_dnnl
                                            : (Sgemm*)dlsym(library, words[2]);
  if (sgemm == NULL) {
    fprintf(stderr, "blas_times: %s\n", count > 3 ? dlerror() : "LIBRARY SYMBOL M,N,K,OPS ... are needed");
    return 2;
  }
  describe(library);
  for (int i = 3; i < count; ++i) {
    int m, n, k;
    char ops[3];
    if (sscanf(words[i], "%d,%d,%d,%2[NT]", &m, &n, &k, ops) != 4) {
      fprintf(stderr, "blas_times: %s: a shape is M,N,K,OPS, such as 64,64,64,NN\n", words[i]);
      return 2;
    }
    const int lda = ops[0] == 'N' ? m : k, ldb = ops[1] == 'N' ? k : n;
    const float one = 1.0f, zero = 0.0f;
    float* const a = matrix(m, k);
    float* const b = matrix(k, n);
    float* const c = matrix(m, n);
    const double flop = 2.0 * m * n * k;
    const long repeats = (long)(2e-3 / (flop / 2e11 + 5e-8)) + 1;
    enum { MOST = 41 };
    double samples[MOST];
    const int wanted = flop > 4e9 ? 7 : flop > 2e8 ? 15 : MOST;
    const double warm = now() + 0.05;
    for (int sample = 0; sample < wanted;) {
      const double start = now();
      for (long r = 0; r < repeats; ++r) {
        sgemm(&ops[0], &ops[1], &m, &n, &k, &one, a, &lda, b, &ldb, &zero, c, &m, 1, 1);
      }
      if (start > warm) {
        samples[sample++] = (now() - start) / (double)repeats;
      }
    }
    qsort(samples, (size_t)wanted, sizeof samples[0], in_order);
    printf("%s %.1f\n", words[i], 1e9 * samples[wanted / 2]);
    free(a);
    free(b);
    free(c);
  }
  return 0;
}
