/* Multiplies through the C header: C11, and as c.cpp C++11. */
#include <duogemm/duogemm.h>
#include <stdio.h>

int main(void) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
  float c[4];
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.layout = DUOGEMM_ROW_MAJOR;
  problem.m = problem.n = problem.ldb = problem.ldc = 2;
  problem.k = problem.lda = 3;
  if (duogemm_sgemm(&problem, a, b, c) != DUOGEMM_SUCCESS) {
    fprintf(stderr, "%s\n", duogemm_last_error());
    return 1;
  }
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  return 0;
}
