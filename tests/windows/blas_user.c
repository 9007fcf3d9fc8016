/* A program on a BLAS: its product must be right, and so not other_blas.c's, whose its other functions must be. */
#include <stdio.h>

void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*,
            const int*, const float*, float*, const int*);
void ssyrk_(const char*, const char*, const int*, const int*, const float*, const float*, const int*, const float*, float*, const int*);
void saxpy_(const int*, const float*, const float*, const int*, float*, const int*);

int main(void) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, one = 1, zero = 0;
  const int size = 2, step = 1;
  float c[4] = {0}, other[4] = {0}, y[2] = {0};
  sgemm_("N", "T", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
  ssyrk_("U", "N", &size, &size, &one, a, &size, &zero, other, &size);
  saxpy_(&size, &one, a, &step, y, &step);
  printf("%g %g %g %g, %g, %g\n", c[0], c[1], c[2], c[3], other[0], y[0]);
  return !(c[0] == 26 && c[1] == 38 && c[2] == 30 && c[3] == 44 && other[0] == -2 && y[0] == -3);
}
