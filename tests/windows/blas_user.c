/* A program on a BLAS: what it prints tells whose functions it has called, and where an illegal argument was reported. */
#include <stdio.h>

void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*,
            const int*, const float*, float*, const int*);
void ssyrk_(const char*, const char*, const int*, const int*, const float*, const float*, const int*, const float*, float*, const int*);
void saxpy_(const int*, const float*, const float*, const int*, float*, const int*);
int last_illegal(void);

int main(void) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, one = 1, zero = 0;
  const int size = 2, step = 1;
  float c[4] = {0}, other[4] = {0}, y[2] = {0};
  sgemm_("N", "T", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
  ssyrk_("U", "N", &size, &size, &one, a, &size, &zero, other, &size);
  saxpy_(&size, &one, a, &step, y, &step);
  printf("%g %g %g %g, %g, %g", c[0], c[1], c[2], c[3], other[0], y[0]);
  sgemm_("N", "T", &size, &size, &size, &one, a, &step, b, &size, &zero, c, &size);
  printf(", %d\n", last_illegal());
  return 0;
}
