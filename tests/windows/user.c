/* A program in C that is linked to the library: multiplies on the default device and checks an element of each column. */
#include <duogemm/duogemm.h>
#include <stdio.h>
#include <stdlib.h>

enum { size = 512 };

int main(void) {
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  float* a = malloc(sizeof(float) * size * size);
  float* b = malloc(sizeof(float) * size * size);
  float* c = malloc(sizeof(float) * size * size);
  int i, j, k, wrong = 0;
  for (i = 0; i < size * size; ++i) {
    a[i] = (float)(i % 7 - 3);
    b[i] = (float)(i % 5 - 2);
  }
  problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = size;
  if (duogemm_sgemm(&problem, a, b, c) != DUOGEMM_SUCCESS) {
    printf("%s\n", duogemm_last_error());
    return 1;
  }
  for (j = 0; j < size; ++j) {
    float sum = 0.0f; /* of integers, and so exact */
    i = j * 31 % size;
    for (k = 0; k < size; ++k) {
      sum += a[k * size + i] * b[j * size + k];
    }
    wrong += c[j * size + i] != sum;
  }
  problem.ldc = 1;
  wrong += duogemm_sgemm(&problem, a, b, c) != DUOGEMM_INVALID_ARGUMENT;
  printf("duogemm %s: %d wrong\n", duogemm_version(), wrong);
  return wrong != 0;
}
