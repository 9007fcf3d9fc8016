/* duogemm in C: what duogemm/sgemm.hpp says holds here too; errors are statuses and no exception comes out.
   On device memory: duogemm/opencl.h and duogemm/cuda.h. */
#ifndef DUOGEMM_DUOGEMM_H
#define DUOGEMM_DUOGEMM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum duogemm_status {
  DUOGEMM_SUCCESS = 0,
  DUOGEMM_INVALID_ARGUMENT = 1, /* the caller asked for something that does not exist or is not allowed */
  DUOGEMM_UNSUPPORTED = 2,      /* the request is valid, but this device, build or process cannot serve it */
  DUOGEMM_OUT_OF_MEMORY = 3,    /* host or device memory is exhausted; the library stays usable */
  DUOGEMM_BUILD_FAILED = 4,     /* a kernel did not compile */
  DUOGEMM_DEVICE_ERROR = 5      /* the driver reported an error */
} duogemm_status;

typedef enum duogemm_layout { DUOGEMM_COLUMN_MAJOR = 0, DUOGEMM_ROW_MAJOR = 1 } duogemm_layout;

/* A conjugate transpose of a real matrix is a transpose. */
typedef enum duogemm_transpose { DUOGEMM_NO_TRANSPOSE = 0, DUOGEMM_TRANSPOSE = 1 } duogemm_transpose;

typedef enum duogemm_reproducibility {
  DUOGEMM_RUN_TO_RUN = 0,     /* the same bits every time on the same device */
  DUOGEMM_EVERYWHERE = 1,     /* the same bits on every device, through every runtime, from every kernel */
  DUOGEMM_BATCH_INVARIANT = 2 /* the same bits whatever m, n and the batch are, in every precision */
} duogemm_reproducibility;

/* What the products may be computed with: a permission, see duogemm::Precision. DUOGEMM_EVERYWHERE goes with
   DUOGEMM_FP32 alone. */
typedef enum duogemm_precision {
  DUOGEMM_FP32 = 0,   /* fused multiply-adds in FP32 */
  DUOGEMM_BF16X6 = 1, /* as accurate, on tensor cores: three BF16 split terms of a number, six products */
  DUOGEMM_F16X3 = 2   /* as accurate, on tensor cores: two scaled FP16 split terms of one, three products */
} duogemm_precision;

/* How the elements of a matrix are stored, see duogemm::ElementType. Pointers to those of 16 bits are passed
   as pointers to float where a parameter is one. */
typedef enum duogemm_element_type {
  DUOGEMM_ELEMENT_FP32 = 0,
  DUOGEMM_ELEMENT_BF16 = 1,
  DUOGEMM_ELEMENT_FP16 = 2
} duogemm_element_type;

/* C <- alpha op(A) op(B) + beta C, but for the matrices; see duogemm::Sgemm. Begin with DUOGEMM_PROBLEM_INIT.
 */
typedef struct duogemm_problem {
  duogemm_layout layout;
  duogemm_transpose a_op;
  duogemm_transpose b_op;
  int64_t m; /* op(A) is m x k, op(B) is k x n, C is m x n; each at least 0 */
  int64_t n;
  int64_t k;
  float alpha;
  float beta;
  int64_t lda; /* in elements; at least 1 and the length of a stored column, or row when row-major */
  int64_t ldb;
  int64_t ldc;
  int64_t batch;    /* how many multiplications, whose matrices stand a stride apart */
  int64_t a_stride; /* in elements; 0: all of the batch share A */
  int64_t b_stride;
  int64_t c_stride; /* the results of a batch must not overlap; they may stand side by side within ldc */
  duogemm_reproducibility level;
  duogemm_precision precision;
  duogemm_element_type a_type;
  duogemm_element_type b_type;
  duogemm_element_type c_type;
} duogemm_problem;

/* No transposes, alpha 1, beta 0, leading dimensions and batch 1, FP32, everything else 0. */
#define DUOGEMM_PROBLEM_INIT                                                                                 \
  {                                                                                                          \
    DUOGEMM_COLUMN_MAJOR, DUOGEMM_NO_TRANSPOSE, DUOGEMM_NO_TRANSPOSE, 0, 0, 0, 1.0f, 0.0f, 1, 1, 1, 1, 0, 0, \
        0, DUOGEMM_RUN_TO_RUN, DUOGEMM_FP32, DUOGEMM_ELEMENT_FP32, DUOGEMM_ELEMENT_FP32,                     \
        DUOGEMM_ELEMENT_FP32                                                                                 \
  }

/* Multiplies matrices in host memory on the default device (the environment variable DUOGEMM_DEVICE, or the
   best there is) and returns when C is there. Any thread may call. Unless it answers DUOGEMM_SUCCESS, C is
   not to be relied upon; with DUOGEMM_INVALID_ARGUMENT it is untouched. DUOGEMM_UNSUPPORTED, at once, in a
   process that was forked from one that had called before, because drivers do not survive fork(), unless the
   device is "cpu"; a process that calls only after it was forked is served. */
duogemm_status duogemm_sgemm(const duogemm_problem* problem, const void* a, const void* b, void* c);

/* The same for problem->batch multiplications whose matrices lie anywhere: a, b and c list where each begins,
   at any byte. The strides do not count. */
duogemm_status duogemm_sgemm_batched(const duogemm_problem* problem, const float* const* a,
                                     const float* const* b, float* const* c);

/* Told within a call how far it is, by the thread that called: each time a larger fraction of its work, the
   last time, when C is complete, 1; and how many bytes have been copied to and from the device. */
typedef void (*duogemm_progress)(double fraction, uint64_t copied_bytes, void* user);

/* duogemm_sgemm() that calls progress(..., user), unless that is null. */
duogemm_status duogemm_sgemm_with_progress(const duogemm_problem* problem, const void* a, const void* b,
                                           void* c, duogemm_progress progress, void* user);

/* Compiles what later calls on the default device may need, or finds it on disk: see duogemm::Context::warm.
 */
duogemm_status duogemm_warm(void);

/* One line about the last call of this thread that did not succeed; empty when there was none. Valid until
   this thread's next call of the library. */
const char* duogemm_last_error(void);

/* "0.1.0" */
const char* duogemm_version(void);

#ifdef __cplusplus
}
#endif

#endif
