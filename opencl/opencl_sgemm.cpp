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

// The caller's buffer, once it is known to be of the queue's context and to reach to `needed` bytes.
ClBuffer borrow(const char* name, cl_mem handle, std::size_t needed, const cl::Context& context) {
  if (handle == nullptr) {
    reject(std::string(name) + " is null");
  }
  const cl::Buffer buffer(handle, true);
  if (buffer.getInfo<CL_MEM_CONTEXT>()() != context()) {
    reject(std::string(name) + " belongs to another context than the queue");
  }
  const std::size_t present = buffer.getInfo<CL_MEM_SIZE>();
  if (present < needed) {
    reject(std::string(name) + " has " + std::to_string(present) + " bytes; the problem reaches to " +
           std::to_string(needed));
  }
  return ClBuffer(buffer);
}

std::size_t bytes_to(const Matrix& matrix, std::int64_t elements) {
  return sizeof(float) * (matrix.offset + static_cast<std::size_t>(elements));
}

MatrixPlace place(const ClBuffer& buffer, const Matrix& matrix) {
  return {&buffer, static_cast<std::int64_t>(matrix.offset)};
}

// What a call is about, in the problem's order of operands.
struct Call {
  Problem problem;
  Matrix a, b, c;
  OffsetTables tables{};
};

// Everything is looked at before the first command is enqueued. Where A and B are not read they may be
// anything.
void enqueue(const cl::CommandQueue& queue, const Call& call, std::span<const cl_event> events) {
  const Problem& problem = call.problem;
  const bool reads = problem.multiplies();
  const bool by_tables = problem.batch_by == BatchBy::offsets;
  const cl::Context context = queue.getInfo<CL_QUEUE_CONTEXT>();
  const auto matrix = [&](const char* name, const Matrix& m, std::int64_t extent) {
    return borrow(name, m.buffer, bytes_to(m, by_tables ? 0 : extent), context);
  };
  const ClBuffer c = matrix("c", call.c, problem.c_extent());
  const ClBuffer a = reads ? matrix("a", call.a, problem.a_extent()) : c;
  const ClBuffer b = reads ? matrix("b", call.b, problem.b_extent()) : c;
  const auto table = [&](const char* name, cl_mem handle) {
    return borrow(name, handle, sizeof(cl_long) * static_cast<std::size_t>(problem.batch), context);
  };
  const ClBuffer table_c = by_tables ? table("offsets.c", call.tables.c) : c;
  const ClBuffer table_a = by_tables && reads ? table("offsets.a", call.tables.a) : c;
  const ClBuffer table_b = by_tables && reads ? table("offsets.b", call.tables.b) : c;
  ClQueue ours(queue, events);
  runtimes()
      .find(context, queue.getInfo<CL_QUEUE_DEVICE>())
      ->enqueue(problem, ours,
                {{place(a, call.a), place(b, call.b), place(c, call.c), {&table_a}, {&table_b}, {&table_c}}});
}

void run(cl_command_queue queue, const Call& call, std::span<const cl_event> wait_for, cl_event* done) {
  if (queue == nullptr) {
    reject("queue is null");
  }
  translated([&] {
    const cl::CommandQueue ours(queue, true);
    if (call.problem.is_empty()) {
      ClQueue(ours, wait_for).wait_for_events();
    } else {
      enqueue(ours, call, wait_for);
    }
    if (done != nullptr) {
      cl::detail::errHandler(clEnqueueMarkerWithWaitList(queue, 0, nullptr, done),
                             "clEnqueueMarkerWithWaitList");
    }
  });
}

Call make_call(const Sgemm& request, const Matrix& a, const Matrix& b, const Matrix& c) {
  const auto [problem, exchanged] = to_column_major(request);
  return {problem, exchanged ? b : a, exchanged ? a : b, c};
}

}  // namespace

void sgemm(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c,
           std::span<const cl_event> wait_for, cl_event* done) {
  run(queue, make_call(request, a, b, c), wait_for, done);
}

void sgemm_batched(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c,
                   OffsetTables offsets, std::span<const cl_event> wait_for, cl_event* done) {
  Call call = make_call(without_strides(request), a, b, c);
  call.problem.batch_by = BatchBy::offsets;
  const bool exchanged = request.layout == Layout::row_major;
  call.tables = {exchanged ? offsets.b : offsets.a, exchanged ? offsets.a : offsets.b, offsets.c};
  run(queue, call, wait_for, done);
}

void forget(cl_context context) { runtimes().forget(context); }

}  // namespace duogemm::opencl
