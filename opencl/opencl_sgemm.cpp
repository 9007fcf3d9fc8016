// The entry point on the caller's own queue and buffers.
#include <boost/container/static_vector.hpp>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "duogemm/opencl.hpp"
#include "opencl_device.h"
#include "opencl_devices.h"
#include "problem/problem.h"
#include "runtime/call_recorder.h"
#include "runtime/runtime.h"
#include "system/process.h"
#include "system/reject.h"

namespace duogemm::opencl {
namespace {

// By OpenCL's own functions: the bindings retain and release whatever they answer, and each of that is a call
// of the driver.
template <typename Value, typename Get, typename Handle>
Value ask(Get get, Handle handle, cl_uint what, const char* name) {
  Value value{};
  cl::detail::errHandler(get(handle, what, sizeof value, &value, nullptr), name);
  return value;
}

template <typename Value>
Value info(cl_mem buffer, cl_mem_info what) {
  return ask<Value>(clGetMemObjectInfo, buffer, what, "clGetMemObjectInfo");
}

template <typename Value>
Value info(cl_command_queue queue, cl_command_queue_info what) {
  return ask<Value>(clGetCommandQueueInfo, queue, what, "clGetCommandQueueInfo");
}

cl_context context_of(cl_command_queue queue) { return info<cl_context>(queue, CL_QUEUE_CONTEXT); }

// The devices of callers' contexts from which calls have come.
class CallersDevices {
 public:
  std::shared_ptr<Runtime> find(cl_context context, cl_device_id id) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Runtime>& found = devices_[{context, id}];
    if (!found) {
      const cl::Device device(id, true);
      found = std::make_shared<Runtime>(
          std::make_unique<ClDevice>(device, describe(device, 0), cl::Context(context, true)));
    }
    return found;
  }

  void forget(cl_context context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(devices_, [&](const auto& entry) { return entry.first.first == context; });
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<cl_context, cl_device_id>, std::shared_ptr<Runtime>> devices_;
};

// Never destroyed: at the end of the process the OpenCL driver may be gone before us.
CallersDevices& callers_devices() {
  static CallersDevices& all = *new CallersDevices;
  return all;
}

std::shared_ptr<Runtime> device_of(cl_command_queue queue, cl_context context) {
  return callers_devices().find(context, info<cl_device_id>(queue, CL_QUEUE_DEVICE));
}

// What kernels do with memory.
enum class Use { read, write, both };

// The caller's buffer, once it is known to be one of the queue's context that kernels may use so.
ClBorrowed borrow(const char* name, cl_mem buffer, Use use, cl_context context) {
  if (buffer == nullptr) {
    reject(std::string(name) + " is null");
  }
  if (info<cl_mem_object_type>(buffer, CL_MEM_TYPE) != CL_MEM_OBJECT_BUFFER) {
    reject(std::string(name) + " is not a buffer");
  }
  const auto flags = info<cl_mem_flags>(buffer, CL_MEM_FLAGS);
  if (use != Use::write && (flags & CL_MEM_WRITE_ONLY) != 0) {
    reject(std::string(name) + " is not for kernels to read");
  }
  if (use != Use::read && (flags & CL_MEM_READ_ONLY) != 0) {
    reject(std::string(name) + " is not for kernels to write");
  }
  if (info<cl_context>(buffer, CL_MEM_CONTEXT) != context) {
    reject(std::string(name) + " belongs to another context than the queue");
  }
  return {buffer, info<std::size_t>(buffer, CL_MEM_SIZE)};
}

// The same, once it is known to reach to `needed` bytes.
ClBorrowed borrow(const char* name, cl_mem handle, Use use, std::size_t needed, cl_context context) {
  ClBorrowed buffer = borrow(name, handle, use, context);
  if (buffer.bytes() < needed) {
    reject(std::string(name) + " has " + std::to_string(buffer.bytes()) + " bytes; the problem reaches to " +
           std::to_string(needed));
  }
  return buffer;
}

ClBorrowed borrow(const Workspace& workspace, cl_context context) {
  ClBorrowed buffer = borrow("workspace", workspace.buffer, Use::both, context);
  const std::size_t present = buffer.bytes();
  if (workspace.offset > present || workspace.bytes > present - workspace.offset) {
    reject("workspace has " + std::to_string(present) + " bytes; its offset " +
           std::to_string(workspace.offset) + " and " + std::to_string(workspace.bytes) +
           " bytes reach beyond");
  }
  return buffer;
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
void require_events(std::span<const cl_event> events, cl_context context) {
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
    if (found != context) {
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
void enqueue(ClQueue& queue, Runtime& runtime, cl_context context, const Call& call) {
  const Problem& problem = call.problem;
  const bool reads = problem.multiplies();
  const bool by_tables = problem.batch_by == BatchBy::offsets;
  boost::container::static_vector<ClBorrowed, 6> buffers;  // three matrices and their tables
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
  std::optional<ClBorrowed> workspace;
  std::optional<LentWorkspace> lent;
  if (call.workspace) {
    lent = LentWorkspace{};
    if (call.workspace->buffer != nullptr) {
      workspace = borrow(*call.workspace, context);
      lent = {&*workspace, call.workspace->offset, call.workspace->bytes};
    }
  }
  runtime.enqueue(problem, queue, {{a, b, c, table_a, table_b, table_c}}, lent);
}

void require_queue(cl_command_queue queue) {
  require_devices_work_here();
  if (queue == nullptr) {
    reject("queue is null");
  }
}

void run(cl_command_queue queue, const Call& call, Events events, cl_event* done) {
  const std::span<const cl_event> wait_for(events.data, events.size);
  translated([&] {
    require_queue(queue);
    const cl_context context = context_of(queue);
    require_events(wait_for, context);
    ClQueue ours(cl::CommandQueue(queue, true), wait_for);
    if (call.problem.is_empty()) {
      ours.wait_for_events();
    } else {
      enqueue(ours, *device_of(queue, context), context, call);
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
    require_queue(queue);
    return problem.is_empty() ? 0 : device_of(queue, context_of(queue))->workspace_bytes(problem);
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
    require_queue(queue);
    ClQueue ours(cl::CommandQueue(queue, true));
    return device_of(queue, context_of(queue))->warm(ours);
  });
}

void forget(cl_context context) { callers_devices().forget(context); }

}  // namespace duogemm::opencl
