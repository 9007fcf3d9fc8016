// The call on host memory, and the choice of a default device.
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "device_selection.h"
#include "duogemm/sgemm.hpp"
#include "problem.h"
#include "runtime.h"

namespace duogemm {
namespace {

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// One matrix of a batch as the caller stores it, column-major.
struct HostMatrix {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  std::int64_t stride;
  std::int64_t count;  // different matrices: 1 when all members of the batch share it

  std::int64_t elements() const { return rows * cols; }
  std::size_t bytes() const { return sizeof(float) * index(elements() * count); }
};

HostMatrix shared_or_batched(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                             std::int64_t batch) {
  return {rows, cols, ld, stride, stride == 0 ? 1 : batch};
}

// Copies columns between the caller's memory and packed memory; only what is inside the matrices is touched.
template <typename To, typename From>
void copy_columns(const HostMatrix& matrix, To to, std::int64_t to_ld, std::int64_t to_stride, From from,
                  std::int64_t from_ld, std::int64_t from_stride) {
  for (std::int64_t member = 0; member < matrix.count; ++member) {
    for (std::int64_t col = 0; col < matrix.cols; ++col) {
      std::memcpy(to + member * to_stride + col * to_ld, from + member * from_stride + col * from_ld,
                  sizeof(float) * index(matrix.rows));
    }
  }
}

}  // namespace

class Context::Implementation {
 public:
  explicit Implementation(const std::string& device)
      : runtime_(open_selected_device(device)), queue_(runtime_.device().create_queue()) {}

  std::string device_name() { return runtime_.device().info().name; }

  // `problem` is column-major, and a, b and c are its operands.
  void multiply(Problem problem, const float* a, const float* b, float* c) {
    const HostMatrix host_a =
        shared_or_batched(problem.a_rows(), problem.a_cols(), problem.lda, problem.a_stride, problem.batch);
    const HostMatrix host_b =
        shared_or_batched(problem.b_rows(), problem.b_cols(), problem.ldb, problem.b_stride, problem.batch);
    const HostMatrix host_c{problem.m, problem.n, problem.ldc, problem.c_stride, problem.batch};
    pack(problem);

    const std::lock_guard lock(mutex_);
    const bool reads_inputs = problem.multiplies();
    const Buffer* device_a = reads_inputs ? upload(0, host_a, a) : nullptr;
    const Buffer* device_b = reads_inputs ? upload(1, host_b, b) : nullptr;
    const Buffer* device_c = problem.beta == 0.0f ? reserve(2, host_c) : upload(2, host_c, c);
    // An argument that no step reads still has to be some buffer.
    runtime_.enqueue(problem, *queue_,
                     {{{device_a ? device_a : device_c}, {device_b ? device_b : device_c}, {device_c}}});
    download(host_c, *device_c, c);
  }

 private:
  // The same problem on packed copies.
  static void pack(Problem& problem) {
    problem.lda = std::max<std::int64_t>(problem.a_rows(), 1);
    problem.ldb = std::max<std::int64_t>(problem.b_rows(), 1);
    problem.ldc = problem.m;
    problem.a_stride = problem.a_stride == 0 ? 0 : problem.a_rows() * problem.a_cols();
    problem.b_stride = problem.b_stride == 0 ? 0 : problem.b_rows() * problem.b_cols();
    problem.c_stride = problem.m * problem.n;
  }

  // The context's own device memory for operand `slot`, grown when it is too small and kept for the next
  // call.
  const Buffer* reserve(std::size_t slot, const HostMatrix& matrix) {
    std::unique_ptr<Buffer>& buffer = buffers_[slot];
    if (!buffer || buffer->bytes() < matrix.bytes()) {
      buffer.reset();
      buffer = runtime_.device().allocate(matrix.bytes());
    }
    return buffer.get();
  }

  const Buffer* upload(std::size_t slot, const HostMatrix& matrix, const float* from) {
    const Buffer* buffer = reserve(slot, matrix);
    staging_.resize(index(matrix.elements() * matrix.count));
    copy_columns(matrix, staging_.data(), matrix.rows, matrix.elements(), from, matrix.ld, matrix.stride);
    queue_->write(*buffer, staging_.data(), matrix.bytes());
    return buffer;
  }

  void download(const HostMatrix& matrix, const Buffer& buffer, float* to) {
    staging_.resize(index(matrix.elements() * matrix.count));
    queue_->read(buffer, staging_.data(), matrix.bytes());
    copy_columns(matrix, to, matrix.ld, matrix.stride, static_cast<const float*>(staging_.data()),
                 matrix.rows, matrix.elements());
  }

  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  std::mutex mutex_;  // of what follows, and of the queue
  std::array<std::unique_ptr<Buffer>, 3> buffers_;
  std::vector<float> staging_;
};

Context::Context(const std::string& device) : implementation_(std::make_unique<Implementation>(device)) {}
Context::~Context() = default;

std::string Context::device_name() const { return implementation_->device_name(); }

void Context::sgemm(const Sgemm& request, const float* a, const float* b, float* c) {
  const auto [problem, exchanged] = to_column_major(request);
  if (problem.is_empty()) {
    return;
  }
  if (c == nullptr || (problem.multiplies() && (a == nullptr || b == nullptr))) {
    throw Error(Status::invalid_argument, std::string(c == nullptr   ? "c"
                                                      : a == nullptr ? "a"
                                                                     : "b") +
                                              " is null");
  }
  implementation_->multiply(problem, exchanged ? b : a, exchanged ? a : b, c);
}

void sgemm(const Sgemm& problem, const float* a, const float* b, float* c) {
  static Context context;
  context.sgemm(problem, a, b, c);
}

}  // namespace duogemm
