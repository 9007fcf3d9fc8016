// Single-precision matrix multiplication: C <- alpha op(A) op(B) + beta C, with the semantics of BLAS's
// SGEMM.
//
// This header has the call on host memory. On device memory: duogemm/opencl.hpp and duogemm/cuda.hpp. In C:
// duogemm/duogemm.h. C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "duogemm/error.h"

namespace duogemm {

enum class Layout { column_major, row_major };

// op() is one of these. For real matrices a conjugate transpose is a transpose.
enum class Transpose { no, yes };

// The same call is promised to answer one of these.
//   run_to_run       the same bits every time on the same device
//   everywhere       the same bits on every device, through every runtime, from every kernel, whatever m, n
//                    and the batch are. k is split at multiples of 4096. Each split is one chain of fused
//                    multiply-adds in ascending k from zero; the splits are added up in ascending order, and
//                    fma(alpha, sum, beta * c) follows, or alpha * sum where beta is 0
//   batch_invariant  an element has the same bits on one kind of device, through one runtime, whatever m, n
//                    and the batch are. In FP32 they are those of everywhere. A precision of tensor cores is
//                    then no permission but an order, whatever is faster, where the device has them
enum class Reproducibility { run_to_run, everywhere, batch_invariant };

// The products may be computed with one of these. It is a permission: the library computes in FP32 all the
// same where that is not slower, or where the device has nothing else. Whatever is permitted and whatever the
// data, the error bound is that of a sum in FP32, a NaN or an infinity spreads as in FP32, and denormals are
// kept.
//   fp32    fused multiply-adds in FP32
//   bf16x6  tensor cores: three BF16 split terms of a number, and the six largest of their nine products
//   f16x3   tensor cores: two scaled FP16 split terms of one, and the three largest of their four products
// The last two do not add up as the level `everywhere` promises, and are refused there. See batch_invariant.
enum class Precision { fp32, bf16x6, f16x3 };

// An operand's elements may have 16 bits: BF16 has the exponents of FP32 and 8 significant bits, FP16 those
// of IEEE 754. The products are those of the same numbers in FP32, and as accurate. A result of 16 bits is
// rounded once, to nearest, ties to even.
enum class ElementType { fp32, bf16, fp16 };

// A function of each element of a result.
//   relu      max(x, 0), which makes 0 of a NaN
//   gelu      x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as of Hendrycks and Gimpel (2016)
//   gelu_erf  x / 2 (1 + erf(x / sqrt(2))), which that is close to
//   silu      x / (1 + exp(-x)), as of Elfwing et al. (2017)
enum class Activation { none, relu, gelu, gelu_erf, silu };

// Everything about a multiplication but the matrices. op(A) is m x k, op(B) is k x n, C is m x n; any of the
// three may be 0. Leading dimensions and strides are in elements, and so are the matrices' sizes, which may
// exceed 2^31 but not 2^60.
//
// As in BLAS: when beta is 0, C is written but never read; when alpha or k is 0, C becomes beta C, and A and
// B are not read and may be null. A NaN or an infinity in A spreads to its row of C and no further, one in B
// to its column. C must overlap neither A nor B, nor itself within a batch; A and B may overlap each other.
// What stands between columns is never written; between those of A and B it may be read, and changes nothing.
struct Sgemm {
  Layout layout = Layout::column_major;
  Transpose a_op = Transpose::no;
  Transpose b_op = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1.0f;
  float beta = 0.0f;
  // Distance between the columns (column_major) or rows (row_major) of a matrix as it is stored: at least 1
  // and at least the length of a column or row.
  std::int64_t lda = 1;
  std::int64_t ldb = 1;
  std::int64_t ldc = 1;
  // `batch` multiplications of the same kind, whose matrices stand a stride apart. A stride of 0 uses the
  // same A or B for all. With a batch above 1, no element may belong to two results, else the call is an
  // invalid_argument; the results may stand side by side within ldc.
  std::int64_t batch = 1;
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
  std::int64_t c_stride = 0;
  Reproducibility level = Reproducibility::run_to_run;
  Precision precision = Precision::fp32;
  // How A, B and C are stored. Lists of matrices hold the addresses of such elements.
  ElementType a_type = ElementType::fp32;
  ElementType b_type = ElementType::fp32;
  ElementType c_type = ElementType::fp32;

  // One multiplication of matrices without gaps: op(A) is m x k, op(B) k x n.
  static Sgemm packed(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k,
                      Transpose a_op = Transpose::no, Transpose b_op = Transpose::no) {
    Sgemm p;
    p.layout = layout;
    p.a_op = a_op;
    p.b_op = b_op;
    p.m = m;
    p.n = n;
    p.k = k;
    // The distance is the length of a row or column as it is stored, and 1 where that is empty.
    const auto leading = [&](std::int64_t rows, std::int64_t columns, Transpose op) {
      const bool by_rows = (layout == Layout::row_major) != (op == Transpose::yes);
      const std::int64_t length = by_rows ? columns : rows;
      return length > 0 ? length : 1;
    };
    p.lda = leading(m, k, a_op);
    p.ldb = leading(k, n, b_op);
    p.ldc = leading(m, n, Transpose::no);
    return p;
  }
};

// The number of programs that a device may need, and of those that a compiler had to work for.
struct WarmUp {
  std::size_t programs = 0;
  std::size_t compiled = 0;
};

// A call tells how far it has come.
struct CallProgress {
  double fraction;             // of its work, up to 1
  std::uint64_t copied_bytes;  // to and from the device; none where the device works on the host's memory
};

// Called within the call that it is given to, by the thread that called, each time with a larger fraction;
// the last time, when C is complete, with 1. What it throws ends the call, and C is not to be relied upon.
using ProgressListener = std::function<void(const CallProgress&)>;

struct ContextOptions {
  // The most bytes of device memory for operands and workspaces of all calls that a context serves at once. A
  // product that needs more goes through it in blocks. 0: what the environment variable DUOGEMM_DEVICE_MEMORY
  // says, such as 512M or 4G, or else seven eighths of the device's memory. With a limit, a device that would
  // work on the host's memory has copies made, too.
  std::size_t device_memory = 0;
};

// A device with its compiled kernels. Any number of threads may use one at once; it must outlive its calls.
//
// Drivers do not survive fork(): in a process that was forked from one that had made a Context, calls and new
// Contexts throw Error, unsupported, at once, and destroying a Context does nothing. A process that makes its
// first Context after it was forked is served. A Context on "cpu", which needs no driver, serves the child,
// too.
class Context {
 public:
  // device: "cuda", "opencl" or "cpu", each with a number or without ("opencl:1", or "opencl1" as `duogemm
  // devices` lists it), or empty for the one that the environment variable DUOGEMM_DEVICE names in the same
  // way, or else the best there is (CUDA, then a GPU through OpenCL, then "cpu": the processor, by kernels
  // that were compiled with the library). Throws Error: invalid_argument when there is no such device, or
  // where DUOGEMM_DEVICE_MEMORY has no number of bytes.
  explicit Context(const std::string& device = {}, const ContextOptions& options = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // "NVIDIA H200"
  std::string device_name() const;

  // Compiles what calls may need later, or finds it on disk, so that none has to wait for a compiler: nothing
  // for devices whose programs the library carries, up to minutes where a driver compiles one program at a
  // time. There `duogemm warm` is faster, which starts several processes and leaves the programs on disk.
  // Then it multiplies once, on a queue of its own, because a driver's first launch takes longer than later
  // ones. A problem out of the common may still need another program. Throws Error: build_failed names the
  // first program that could not be compiled, when all others have been; unsupported names a driver that is
  // refused, because its results are wrong.
  WarmUp warm();

  // Multiplies matrices in host memory and returns when C is there. Copies to and from the device; C is
  // changed inside its m x n windows only, so other threads may work on the memory between them. The matrices
  // may be larger than the device's memory: they go through it in blocks. At the level `everywhere`, a block
  // has the whole of k. At run_to_run k may be split where the operands do not fit, in the same way whenever
  // the context has the same memory. Throws Error: invalid_argument names the first wrong argument and C is
  // untouched, as with out_of_memory; device_error leaves the context usable.
  // Elements of 16 bits are converted in host memory first, which takes a copy in FP32.
  void sgemm(const Sgemm& problem, const void* a, const void* b, void* c,
             const ProgressListener& progress = {});

  // The same for problem.batch multiplications whose matrices lie anywhere: a, b and c list where each
  // begins, at any byte. The strides of the problem do not count.
  void sgemm_batched(const Sgemm& problem, const float* const* a, const float* const* b, float* const* c,
                     const ProgressListener& progress = {});

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// The same on a context for the default device, made at the first call and kept until the process ends.
void sgemm(const Sgemm& problem, const void* a, const void* b, void* c,
           const ProgressListener& progress = {});
void sgemm_batched(const Sgemm& problem, const float* const* a, const float* const* b, float* const* c,
                   const ProgressListener& progress = {});
WarmUp warm();

}  // namespace duogemm
