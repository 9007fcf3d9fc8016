// The entry point on the caller's own queue and buffers.
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "api/call_recorder.h"
#include "duogemm/opencl.hpp"
#include "opencl_device.h"
#include "opencl_devices.h"
#include "problem/problem.h"
#include "runtime/runtime.h"
#include "system/reject.h"

namespace duogemm::opencl {
namespace {

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

std::shared_ptr<Runtime> runtime_of(const cl::CommandQueue& queue) {
  return runtimes().find(queue.getInfo<CL_QUEUE_CONTEXT>(), queue.getInfo<CL_QUEUE_DEVICE>());
}

// What kernels do with memory.
enum class Use { read, write, both };

// The caller's buffer, once it is known to be one of the queue's context that kernels may use so.
cl::Buffer borrow(const char* name, cl_mem handle, Use use, const cl::Context& context) {
  if (handle == nullptr) {
    reject(std::string(name) + " is null");
  }
  cl::Buffer buffer(handle, true);
  if (buffer.getInfo<CL_MEM_TYPE>() != CL_MEM_OBJECT_BUFFER) {
    reject(std::string(name) + " is not a buffer");
  }
  const cl_mem_flags flags = buffer.getInfo<CL_MEM_FLAGS>();
  if (use != Use::write && (flags & CL_MEM_WRITE_ONLY) != 0) {
    reject(std::string(name) + " is not for kernels to read");
  }
  if (use != Use::read && (flags & CL_MEM_READ_ONLY) != 0) {
    reject(std::string(name) + " is not for kernels to write");
  }
  if (buffer.getInfo<CL_MEM_CONTEXT>()() != context()) {
    reject(std::string(name) + " belongs to another context than the queue");
  }
  return buffer;
}

// The same, once it is known to reach to `needed` bytes.
ClBuffer borrow(const char* name, cl_mem handle, Use use, std::size_t needed, const cl::Context& context) {
  const cl::Buffer buffer = borrow(name, handle, use, context);
  const std::size_t present = buffer.getInfo<CL_MEM_SIZE>();
  if (present < needed) {
    reject(std::string(name) + " has " + std::to_string(present) + " bytes; the problem reaches to " +
           std::to_string(needed));
  }
  return ClBuffer(buffer);
}

ClBuffer borrow(const Workspace& workspace, const cl::Context& context) {
  const cl::Buffer buffer = borrow("workspace", workspace.buffer, Use::both, context);
  const std::size_t present = buffer.getInfo<CL_MEM_SIZE>();
  if (workspace.offset > present || workspace.bytes > present - workspace.offset) {
    reject("workspace has " + std::to_string(present) + " bytes; its offset " +
           std::to_string(workspace.offset) + " and " + std::to_string(workspace.bytes) +
           " bytes reach beyond");
  }
  return ClBuffer(buffer);
}

// Where the matrix ends in its buffer. `elements` are at most 2^60 (see validate()).
std::size_t bytes_to(const char* name, const Matrix& matrix, std::int64_t elements) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / sizeof(float);
  const auto extent = static_cast<std::size_t>(elements);
  if (matrix.offset > most - extent) {
    reject(std::string(name) + " has an offset of " + std::to_string(matrix.offset) +
           " elements; no buffer is as long");
  }
  return sizeof(float) * (matrix.offset + extent);
}

// Those that a driver knows to be none, and those of another context.
void require_events(std::span<const cl_event> events, const cl::Context& context) {
  if (events.data() == nullptr && !events.empty()) {
    reject("wait_for is null; it must list " + std::to_string(events.size()) + " events");
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string name = "event " + std::to_string(i) + " to wait for";
    cl_context found = nullptr;
    if (events[i] == nullptr ||
        clGetEventInfo(events[i], CL_EVENT_CONTEXT, sizeof found, &found, nullptr) != CL_SUCCESS) {
      reject(name + " is no event");
    }
    if (found != context()) {
      reject(name + " belongs to another context than the queue");
    }
  }
}

// What a call is about, as it came and in the problem's order of operands.
struct Call {
  Sgemm request;
  Problem problem;
  Matrix a, b, c;
  OffsetTables tables{};
  std::optional<Workspace> workspace{};  // none: the library's own
};

// Everything is looked at before the first command is enqueued. What the problem does not read may be
// anything.
void enqueue(const cl::CommandQueue& queue, const Call& call, std::span<const cl_event> events) {
  const Problem& problem = call.problem;
  const bool reads = problem.multiplies();
  const bool by_tables = problem.batch_by == BatchBy::offsets;
  const cl::Context context = queue.getInfo<CL_QUEUE_CONTEXT>();
  std::deque<ClBuffer> buffers;  // in which none moves when another comes
  const auto place = [&](const char* name, const Matrix& m, Use use, std::size_t needed) -> MatrixPlace {
    return {&buffers.emplace_back(borrow(name, m.buffer, use, needed, context)),
            static_cast<std::int64_t>(m.offset)};
  };
  const auto matrix = [&](const char* name, const Matrix& m, Use use, std::int64_t extent) {
    return place(name, m, use, bytes_to(name, m, by_tables ? 0 : extent));
  };
  const auto table = [&](const char* name, cl_mem handle) {
    return place(name, {handle}, Use::read, sizeof(cl_long) * static_cast<std::size_t>(problem.batch));
  };
  const MatrixPlace none;
  const Use use_of_c = problem.beta == 0.0f ? Use::write : Use::both;
  const MatrixPlace c = matrix("c", call.c, use_of_c, problem.c_extent());
  const bool swapped = call.request.layout == Layout::row_major;  // as the caller calls them
  const MatrixPlace a = reads ? matrix(swapped ? "b" : "a", call.a, Use::read, problem.a_extent()) : none;
  const MatrixPlace b = reads ? matrix(swapped ? "a" : "b", call.b, Use::read, problem.b_extent()) : none;
  const MatrixPlace table_c = by_tables ? table("offsets.c", call.tables.c) : none;
  const MatrixPlace table_a =
      by_tables && reads ? table(swapped ? "offsets.b" : "offsets.a", call.tables.a) : none;
  const MatrixPlace table_b =
      by_tables && reads ? table(swapped ? "offsets.a" : "offsets.b", call.tables.b) : none;
  std::optional<ClBuffer> workspace;
  std::optional<LentWorkspace> lent;
  if (call.workspace) {
    lent = LentWorkspace{};
    if (call.workspace->buffer != nullptr) {
      workspace = borrow(*call.workspace, context);
      lent = {&*workspace, call.workspace->offset, call.workspace->bytes};
    }
  }
  ClQueue ours(queue, events);
  runtime_of(queue)->enqueue(problem, ours, {{a, b, c, table_a, table_b, table_c}}, lent);
}

cl::CommandQueue borrow(cl_command_queue queue) {
  if (queue == nullptr) {
    reject("queue is null");
  }
  return cl::CommandQueue(queue, true);
}

void run(cl_command_queue queue, const Call& call, Events events, cl_event* done) {
  const std::span<const cl_event> wait_for(events.data, events.size);
  translated([&] {
    const cl::CommandQueue ours = borrow(queue);
    require_events(wait_for, ours.getInfo<CL_QUEUE_CONTEXT>());
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
  record_call(call.request, CallMemory::device,
              call.problem.batch_by == BatchBy::offsets ? CallBatch::lists : CallBatch::strides);
}

Call make_call(const Sgemm& request, const Matrix& a, const Matrix& b, const Matrix& c,
               BatchBy batch_by = BatchBy::strides) {
  const auto [problem, swapped] = to_column_major(request, batch_by);
  return {request, problem, swapped ? b : a, swapped ? a : b, c};
}

Call make_batched_call(const Sgemm& request, const Matrix& a, const Matrix& b, const Matrix& c,
                       const OffsetTables& offsets) {
  Call call = make_call(request, a, b, c, BatchBy::offsets);
  const bool swapped = request.layout == Layout::row_major;
  call.tables = {swapped ? offsets.b : offsets.a, swapped ? offsets.a : offsets.b, offsets.c};
  return call;
}

std::size_t workspace_bytes(cl_command_queue queue, const Problem& problem) {
  return translated([&] {
    const cl::CommandQueue ours = borrow(queue);
    if (problem.is_empty()) {
      return std::size_t{0};
    }
    return runtime_of(ours)->workspace_bytes(problem);
  });
}

}  // namespace

void sgemm(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c, Events wait_for,
           cl_event* done) {
  run(queue, make_call(request, a, b, c), wait_for, done);
}

void sgemm_batched(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c,
                   OffsetTables offsets, Events wait_for, cl_event* done) {
  run(queue, make_batched_call(request, a, b, c, offsets), wait_for, done);
}

std::size_t sgemm_workspace_bytes(cl_command_queue queue, const Sgemm& request) {
  return workspace_bytes(queue, make_call(request, {}, {}, {}).problem);
}

std::size_t sgemm_batched_workspace_bytes(cl_command_queue queue, const Sgemm& request) {
  return workspace_bytes(queue, make_batched_call(request, {}, {}, {}, {}).problem);
}

void sgemm(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c, Events wait_for,
           cl_event* done, Workspace workspace) {
  Call call = make_call(request, a, b, c);
  call.workspace = workspace;
  run(queue, call, wait_for, done);
}

void sgemm_batched(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c,
                   OffsetTables offsets, Events wait_for, cl_event* done, Workspace workspace) {
  Call call = make_batched_call(request, a, b, c, offsets);
  call.workspace = workspace;
  run(queue, call, wait_for, done);
}

WarmUp warm(cl_command_queue queue) {
  return translated([&] {
    const cl::CommandQueue borrowed = borrow(queue);
    ClQueue ours(borrowed);
    return runtime_of(borrowed)->warm(ours);
  });
}

void forget(cl_context context) { runtimes().forget(context); }

}  // namespace duogemm::opencl
