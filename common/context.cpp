// The call on host memory, and the choice of a default device.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include "call_recorder.h"
#include "device_selection.h"
#include "duogemm/sgemm.hpp"
#include "problem.h"
#include "process.h"
#include "runtime.h"

namespace duogemm {
namespace {

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// The matrices of a batch as the caller stores them, column-major.
struct HostMatrices {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  std::int64_t count;  // different ones: 1 when all members of the batch share it

  std::int64_t elements() const { return rows * cols; }
  std::size_t bytes() const { return sizeof(float) * index(elements() * count); }
};

// Where the i-th matrix of a batch begins.
template <typename Element>
using PlaceOf = std::function<Element*(std::int64_t)>;

template <typename Element>
PlaceOf<Element> strided(Element* first, std::int64_t stride) {
  return [=](std::int64_t i) { return first + i * stride; };
}

template <typename Element>
PlaceOf<Element> listed(Element* const* places) {
  return [=](std::int64_t i) { return places[i]; };
}

// Copy columns to and from packed memory; of the caller's, only what is inside the matrices is touched.
void pack(const HostMatrices& matrices, const PlaceOf<const float>& from, float* to) {
  for (std::int64_t i = 0; i < matrices.count; ++i) {
    for (std::int64_t col = 0; col < matrices.cols; ++col, to += matrices.rows) {
      std::memcpy(to, from(i) + col * matrices.ld, sizeof(float) * index(matrices.rows));
    }
  }
}

void unpack(const HostMatrices& matrices, const float* from, const PlaceOf<float>& to) {
  for (std::int64_t i = 0; i < matrices.count; ++i) {
    for (std::int64_t col = 0; col < matrices.cols; ++col, from += matrices.rows) {
      std::memcpy(to(i) + col * matrices.ld, from, sizeof(float) * index(matrices.rows));
    }
  }
}

// The same problem on packed copies.
Problem packed_copy(Problem problem, std::int64_t a_count, std::int64_t b_count) {
  problem.lda = std::max<std::int64_t>(problem.a_rows(), 1);
  problem.ldb = std::max<std::int64_t>(problem.b_rows(), 1);
  problem.ldc = problem.m;
  problem.a_stride = a_count == 1 || !problem.multiplies() ? 0 : problem.a_rows() * problem.a_cols();
  problem.b_stride = b_count == 1 || !problem.multiplies() ? 0 : problem.b_rows() * problem.b_cols();
  problem.c_stride = problem.m * problem.n;
  return problem;
}

}  // namespace

class Context::Implementation {
 public:
  explicit Implementation(const std::string& device)
      : runtime_(open_selected_device(device)), queue_(runtime_.device().create_queue()) {}

  std::string device_name() { return runtime_.device().info().name; }

  // `problem` is column-major, and a, b and c are its operands, of which A and B have as many as is said.
  void multiply(const Problem& problem, std::int64_t a_count, const PlaceOf<const float>& a,
                std::int64_t b_count, const PlaceOf<const float>& b, const PlaceOf<float>& c) {
    require_devices_work_here();
    const HostMatrices host_a{problem.a_rows(), problem.a_cols(), problem.lda, a_count};
    const HostMatrices host_b{problem.b_rows(), problem.b_cols(), problem.ldb, b_count};
    const HostMatrices host_c{problem.m, problem.n, problem.ldc, problem.batch};

    const std::lock_guard lock(mutex_);
    const bool reads_inputs = problem.multiplies();
    const Buffer* device_a = reads_inputs ? upload(0, host_a, a) : nullptr;
    const Buffer* device_b = reads_inputs ? upload(1, host_b, b) : nullptr;
    const Buffer* device_c = problem.beta == 0.0f ? reserve(2, host_c) : upload(2, host_c, c);
    runtime_.enqueue(packed_copy(problem, a_count, b_count), *queue_, {{{device_a}, {device_b}, {device_c}}});
    staging_.resize(index(host_c.elements() * host_c.count));
    queue_->read(*device_c, staging_.data(), host_c.bytes());
    unpack(host_c, staging_.data(), c);
  }

 private:
  // The context's own device memory for operand `slot`, grown when it is too small and kept for the next
  // call.
  const Buffer* reserve(std::size_t slot, const HostMatrices& matrices) {
    std::unique_ptr<Buffer>& buffer = buffers_[slot];
    if (!buffer || buffer->bytes() < matrices.bytes()) {
      buffer.reset();
      buffer = runtime_.device().allocate(matrices.bytes());
    }
    return buffer.get();
  }

  const Buffer* upload(std::size_t slot, const HostMatrices& matrices, const PlaceOf<const float>& from) {
    const Buffer* buffer = reserve(slot, matrices);
    staging_.resize(index(matrices.elements() * matrices.count));
    pack(matrices, from, staging_.data());
    queue_->write(*buffer, staging_.data(), matrices.bytes());
    return buffer;
  }

  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  std::mutex mutex_;  // of what follows, and of the queue
  std::array<std::unique_ptr<Buffer>, 3> buffers_;
  std::vector<float> staging_;
};

Context::Context(const std::string& device) : implementation_(std::make_unique<Implementation>(device)) {}
Context::~Context() {
  if (!devices_work_here()) {
    static_cast<void>(implementation_.release());  // no driver could take back what is in it
  }
}

std::string Context::device_name() const { return implementation_->device_name(); }

void Context::sgemm(const Sgemm& request, const float* a, const float* b, float* c) {
  const auto [problem, exchanged] = to_column_major(request);
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  if (exchanged) {
    std::swap(a, b);
  }
  const auto count = [&batch = problem.batch](std::int64_t stride) { return stride == 0 ? 1 : batch; };
  implementation_->multiply(problem, count(problem.a_stride), strided(a, problem.a_stride),
                            count(problem.b_stride), strided(b, problem.b_stride),
                            strided(c, problem.c_stride));
  record_call(request, CallMemory::host);
}

void Context::sgemm_batched(const Sgemm& request, const float* const* a, const float* const* b,
                            float* const* c) {
  const auto [problem, exchanged] = to_column_major(without_strides(request));
  if (problem.is_empty()) {
    return;
  }
  require_pointers(problem, a, b, c);
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    require_pointers(problem, problem.multiplies() ? a[i] : nullptr, problem.multiplies() ? b[i] : nullptr,
                     c[i]);
  }
  if (exchanged) {
    std::swap(a, b);
  }
  implementation_->multiply(problem, problem.batch, listed(a), problem.batch, listed(b), listed(c));
  record_call(request, CallMemory::host, CallBatch::lists);
}

namespace {

Context& default_context() {
  static Context context;
  return context;
}

}  // namespace

void sgemm(const Sgemm& problem, const float* a, const float* b, float* c) {
  default_context().sgemm(problem, a, b, c);
}

void sgemm_batched(const Sgemm& problem, const float* const* a, const float* const* b, float* const* c) {
  default_context().sgemm_batched(problem, a, b, c);
}

}  // namespace duogemm
