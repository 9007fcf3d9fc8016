/* A BLAS whose results are wrong, so that they tell whose they are. */
static int illegal;

void sgemm_(const char* a_op, const char* b_op, const int* m, const int* n, const int* k, const float* alpha, const float* a,
            const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc) {
  *c = -1.0f;
}
void ssyrk_(const char* uplo, const char* op, const int* n, const int* k, const float* alpha, const float* a, const int* lda,
            const float* beta, float* c, const int* ldc) {
  *c = -2.0f;
}
void saxpy_(const int* n, const float* alpha, const float* x, const int* incx, float* y, const int* incy) { *y = -3.0f; }
void xerbla_(const char* routine, const int* position, int length) { illegal = *position; }
int last_illegal(void) { return illegal; }
