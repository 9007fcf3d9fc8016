// Times SGEMM of a BLAS library in a process of its own: blas_times LIBRARY SYMBOL M,N,K,OPS ...
//
// A line for each shape: nanoseconds, the median over samples of at least 2 ms; matrices are random,
// column-major and packed.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void Sgemm(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                   const int*, const float*, const int*, const float*, float*, const int*, size_t, size_t);

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
  Sgemm* const sgemm = library == NULL ? NULL : (Sgemm*)dlsym(library, words[2]);
  if (sgemm == NULL) {
    fprintf(stderr, "blas_times: %s\n", count > 3 ? dlerror() : "LIBRARY SYMBOL M,N,K,OPS ... are needed");
    return 2;
  }
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
