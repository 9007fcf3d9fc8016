/* A program that knows only BLAS. LD_PRELOAD=libduogemm_blas.so gives it duogemm's SGEMM; the bits tell which one ran: the
   whole sum is one chain of fused multiply-adds in ascending k. */
#include <math.h>
#include <stdio.h>

enum { n = 65, row_major = 101, no_transpose = 111 };

/* CBLAS, whose header has another name with every vendor. */
void cblas_sgemm(int layout, int a_op, int b_op, int m, int columns, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);

int main(void) {
  static float a[n * n];
  static float b[n * n];
  static float c[n * n];
  for (int i = 0; i < n * n; ++i) {
    a[i] = sinf((float)i);
    b[i] = cosf((float)i);
  }
  cblas_sgemm(row_major, no_transpose, no_transpose, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
  int same_bits = 1;
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0.0f;
      for (int k = 0; k < n; ++k) {
        sum = fmaf(a[row * n + k], b[k * n + column], sum);
      }
      if (fabsf(sum - c[row * n + column]) > 1e-4f) {
        printf("wrong\n");
        return 1;
      }
      same_bits = same_bits && sum == c[row * n + column];
    }
  }
  printf("right; %s\n", same_bits ? "duogemm's bits" : "another library's bits");
  return 0;
}
