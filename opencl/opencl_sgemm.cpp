// The entry point on the caller's own queue and buffers.
#include <map>
#include <mutex>

#include "duogemm/opencl.hpp"
#include "opencl_device.h"
#include "opencl_devices.h"
#include "problem.h"
#include "runtime.h"

namespace duogemm::opencl {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

// One runtime for each device of each context that calls have come from.
class Runtimes {
 public:
  std::shared_ptr<Runtime> find(const cl::Context& context, const cl::Device& device) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Runtime>& runtime = runtimes_[{context(), device()}];
    if (!runtime) {
      runtime = std::make_shared<Runtime>(std::make_unique<ClDevice>(device, describe(device, 0), context));
    }
    return runtime;
  }

  void forget(cl_context context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(runtimes_, [&](const auto& entry) { return entry.first.first == context; });
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<cl_context, cl_device_id>, std::shared_ptr<Runtime>> runtimes_;
};

// Never destroyed: at the end of the process the OpenCL driver may be gone before us.
Runtimes& runtimes() {
  static Runtimes& all = *new Runtimes;
  return all;
}

// The caller's buffer, once it is known to be of the queue's context and to hold `elements` behind the
// offset.
ClBuffer borrow(const char* name, const Matrix& matrix, std::int64_t elements, const cl::Context& context) {
  if (matrix.buffer == nullptr) {
    reject(std::string(name) + " is null");
  }
  const cl::Buffer buffer(matrix.buffer, true);
  if (buffer.getInfo<CL_MEM_CONTEXT>()() != context()) {
    reject(std::string(name) + " belongs to another context than the queue");
  }
  const std::size_t needed = sizeof(float) * (matrix.offset + static_cast<std::size_t>(elements));
  const std::size_t present = buffer.getInfo<CL_MEM_SIZE>();
  if (present < needed) {
    reject(std::string(name) + " has " + std::to_string(present) + " bytes; the problem reaches to " +
           std::to_string(needed));
  }
  return ClBuffer(buffer);
}

MatrixPlace place(const ClBuffer& buffer, const Matrix& matrix) {
  return {&buffer, static_cast<std::int64_t>(matrix.offset)};
}

void wait_for_events(const cl::CommandQueue& queue, std::span<const cl_event> events) {
  if (!events.empty()) {
    cl::detail::errHandler(
        clEnqueueBarrierWithWaitList(queue(), static_cast<cl_uint>(events.size()), events.data(), nullptr),
        "clEnqueueBarrierWithWaitList");
  }
}

// Everything is looked at before the first command is enqueued.
void enqueue(const cl::CommandQueue& queue, const Problem& problem, const Matrix& a, const Matrix& b,
             const Matrix& c, std::span<const cl_event> events) {
  const cl::Context context = queue.getInfo<CL_QUEUE_CONTEXT>();
  const ClBuffer ours_c = borrow("c", c, problem.c_extent(), context);
  // Where A and B are not read they may be anything; a kernel's argument must still be some buffer.
  const bool reads = problem.multiplies();
  const ClBuffer ours_a = reads ? borrow("a", a, problem.a_extent(), context) : ours_c;
  const ClBuffer ours_b = reads ? borrow("b", b, problem.b_extent(), context) : ours_c;
  wait_for_events(queue, events);
  ClQueue ours(queue);
  runtimes()
      .find(context, queue.getInfo<CL_QUEUE_DEVICE>())
      ->enqueue(problem, ours, {{place(ours_a, a), place(ours_b, b), place(ours_c, c)}});
}

}  // namespace

void sgemm(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c,
           std::span<const cl_event> wait_for, cl_event* done) {
  const auto [problem, exchanged] = to_column_major(request);
  if (queue == nullptr) {
    reject("queue is null");
  }
  if (exchanged) {
    std::swap(a, b);
  }
  translated([&, &problem = problem] {
    const cl::CommandQueue ours(queue, true);
    if (problem.is_empty()) {
      wait_for_events(ours, wait_for);
    } else {
      enqueue(ours, problem, a, b, c, wait_for);
    }
    if (done != nullptr) {
      cl::detail::errHandler(clEnqueueMarkerWithWaitList(queue, 0, nullptr, done),
                             "clEnqueueMarkerWithWaitList");
    }
  });
}

void forget(cl_context context) { runtimes().forget(context); }

}  // namespace duogemm::opencl
