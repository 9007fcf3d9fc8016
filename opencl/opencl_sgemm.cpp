// The entry point on the caller's own queue and buffers.
#include <boost/container/static_vector.hpp>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "duogemm/opencl.hpp"
#include "opencl_device.h"
#include "problem/element_type.h"
#include "problem/problem.h"
#include "runtime/call_recorder.h"
#include "runtime/runtime.h"
#include "system/process.h"
#include "system/reject.h"

namespace duogemm::opencl {
namespace {

// By OpenCL's own functions: the bindings retain and release whatever they answer, by calls of the driver.
template <typename Value, typename Get, typename Handle>
Value ask(Get get, Handle handle, cl_uint what, const char* name) {
  Value value{};
  check(get(handle, what, sizeof value, &value, nullptr), name);
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

// The devices of callers' contexts from which calls have come. Never destroyed: at the end of the process the
// OpenCL driver may be gone before us.
struct CallersDevices {
  std::mutex mutex;
  std::map<std::pair<cl_context, cl_device_id>, std::shared_ptr<Runtime>> runtimes;
};
CallersDevices& callers_devices() {
  static CallersDevices& all = *new CallersDevices;
  return all;
}

std::shared_ptr<Runtime> runtime_of(cl_command_queue queue, cl_context context) {
  const auto id = info<cl_device_id>(queue, CL_QUEUE_DEVICE);
  CallersDevices& all = callers_devices();
  const std::lock_guard lock(all.mutex);
  std::shared_ptr<Runtime>& found = all.runtimes[{context, id}];
  if (!found) {
    const cl::Device device(id, true);
    found = std::make_shared<Runtime>(open_device(device, describe(device, 0), cl::Context(context, true)));
  }
  return found;
}

// Kernels do one of these with memory.
enum class Use { read, write, both };

// The caller's buffer, once it is known to be one of the queue's context that kernels may use so.
ClBuffer borrow(const char* name, cl_mem buffer, Use use, cl_context context) {
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
ClBuffer borrow(const char* name, cl_mem handle, Use use, std::size_t needed, cl_context context) {
  ClBuffer buffer = borrow(name, handle, use, context);
  if (buffer.bytes() < needed) {
    reject(std::string(name) + " has " + std::to_string(buffer.bytes()) + " bytes; the problem reaches to " +
           std::to_string(needed));
  }
  return buffer;
}

ClBuffer borrow(const Workspace& workspace, cl_context context) {
  ClBuffer buffer = borrow("workspace", workspace.buffer, Use::both, context);
  const std::size_t present = buffer.bytes();
  if (workspace.offset > present || workspace.bytes > present - workspace.offset) {
    reject("workspace has " + std::to_string(present) + " bytes; its offset " +
           std::to_string(workspace.offset) + " and " + std::to_string(workspace.bytes) +
           " bytes reach beyond");
  }
  return buffer;
}

// Answers where the matrix ends in its buffer. `elements` are at most 2^60 (see validate()).
std::size_t bytes_to(const char* name, const Matrix& matrix, std::int64_t elements, ElementType type) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / sizeof(float);
  const auto extent = static_cast<std::size_t>(elements);
  if (matrix.offset > most - extent) {
    reject(std::string(name) + " has an offset of " + std::to_string(matrix.offset) +
           " elements; no buffer is as long");
  }
  return bytes_of(type) * (matrix.offset + extent);
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

// A caller hands these over besides the problem, in the caller's order of operands.
struct Operands {
  Matrix a, b, c;
  OffsetTables tables{};
  std::optional<Workspace> workspace{};  // none: the library's own
  Matrix ends{};                         // of groups
};

// All that the problem reads is looked at before the first command is enqueued.
void enqueue(ClQueue& queue, Runtime& runtime, cl_context context, const ColumnMajor& call,
             const Operands& operands) {
  const Problem& problem = call.problem;
  const bool reads = problem.multiplies();
  const bool by_tables = problem.batch_by == BatchBy::offsets;
  boost::container::static_vector<ClBuffer, 7> buffers;  // three matrices, their tables, and ends
  const auto place = [&](const char* name, const Matrix& m, Use use, std::size_t needed) -> MatrixPlace {
    return {&buffers.emplace_back(borrow(name, m.buffer, use, needed, context)),
            static_cast<std::int64_t>(m.offset)};
  };
  const auto matrix = [&](const char* name, const Matrix& m, Use use, std::int64_t extent, ElementType type) {
    return place(name, m, use, bytes_to(name, m, by_tables ? 0 : extent, type));
  };
  const auto [a_type, b_type] =
      call.swapped ? std::pair(problem.b_type, problem.a_type) : std::pair(problem.a_type, problem.b_type);
  const auto table = [&](const char* name, cl_mem handle) {
    return by_tables
               ? place(name, {handle}, Use::read, sizeof(cl_long) * static_cast<std::size_t>(problem.batch))
               : MatrixPlace();
  };
  const Use use_of_c = problem.beta == 0.0f ? Use::write : Use::both;
  const MatrixPlace c = matrix("c", operands.c, use_of_c, problem.c_extent(), problem.c_type);
  const MatrixPlace table_c = table("offsets.c", operands.tables.c);
  MatrixPlace a, b, table_a, table_b;
  if (reads) {
    a = matrix("a", operands.a, Use::read, call.swapped ? problem.b_extent() : problem.a_extent(), a_type);
    b = matrix("b", operands.b, Use::read, call.swapped ? problem.a_extent() : problem.b_extent(), b_type);
    table_a = table("offsets.a", operands.tables.a);
    table_b = table("offsets.b", operands.tables.b);
  }
  if (call.swapped) {
    std::swap(a, b);
    std::swap(table_a, table_b);
  }
  MatrixPlace ends;
  if (problem.is_grouped()) {
    ends = place("the array of ends", operands.ends, Use::read,
                 bytes_to("the array of ends", operands.ends, problem.groups, ElementType::fp32));
  }
  std::optional<ClBuffer> workspace;
  std::optional<LentWorkspace> lent;
  if (operands.workspace) {
    lent = LentWorkspace{};
    if (operands.workspace->buffer != nullptr) {
      workspace = borrow(*operands.workspace, context);
      lent = {&*workspace, operands.workspace->offset, operands.workspace->bytes};
    }
  }
  PreparedPlan::Operands all{{a, b, c, table_a, table_b, table_c}};
  all[static_cast<std::size_t>(operand_ends.slot)] = ends;
  runtime.enqueue(problem, queue, all, lent);
}

void require_queue(cl_command_queue queue) {
  require_devices_work_here();
  if (queue == nullptr) {
    reject("queue is null");
  }
}

void multiply(cl_command_queue queue, const Sgemm& request, CallBatch members, const Operands& operands,
              Events events, cl_event* done) {
  const ColumnMajor call = to_column_major(request, members, BatchBy::offsets);
  const std::span<const cl_event> wait_for(events.data, events.size);
  translated([&] {
    require_queue(queue);
    const cl_context context = context_of(queue);
    require_events(wait_for, context);
    ClQueue ours(cl::CommandQueue(queue, true), wait_for);
    if (call.problem.is_empty()) {
      ours.wait_for_events();
    } else {
      enqueue(ours, *runtime_of(queue, context), context, call, operands);
    }
    if (done != nullptr) {
      check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, done), "clEnqueueMarkerWithWaitList");
    }
  });
  record_call(request, CallMemory::device, members);
}

std::size_t workspace_bytes(cl_command_queue queue, const Sgemm& request, CallBatch members) {
  const Problem problem = to_column_major(request, members, BatchBy::offsets).problem;
  return translated([&] {
    require_queue(queue);
    return problem.is_empty() ? 0 : runtime_of(queue, context_of(queue))->workspace_bytes(problem);
  });
}

}  // namespace

void sgemm(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c, Events wait_for,
           cl_event* done, const std::optional<Workspace>& workspace) {
  multiply(queue, request, CallBatch::strides, {a, b, c, {}, workspace}, wait_for, done);
}

void sgemm_batched(cl_command_queue queue, const Sgemm& request, Matrix a, Matrix b, Matrix c,
                   OffsetTables offsets, Events wait_for, cl_event* done,
                   const std::optional<Workspace>& workspace) {
  multiply(queue, request, CallBatch::lists, {a, b, c, offsets, workspace}, wait_for, done);
}

void sgemm_grouped(cl_command_queue queue, const Sgemm& request, Matrix ends, Matrix a, Matrix b, Matrix c,
                   Events wait_for, cl_event* done, const std::optional<Workspace>& workspace) {
  multiply(queue, request, CallBatch::groups, {a, b, c, {}, workspace, ends}, wait_for, done);
}

std::size_t sgemm_workspace_bytes(cl_command_queue queue, const Sgemm& request) {
  return workspace_bytes(queue, request, CallBatch::strides);
}

std::size_t sgemm_batched_workspace_bytes(cl_command_queue queue, const Sgemm& request) {
  return workspace_bytes(queue, request, CallBatch::lists);
}

std::size_t sgemm_grouped_workspace_bytes(cl_command_queue queue, const Sgemm& request) {
  return workspace_bytes(queue, request, CallBatch::groups);
}

WarmUp warm(cl_command_queue queue) {
  return translated([&] {
    require_queue(queue);
    ClQueue ours(cl::CommandQueue(queue, true));
    return runtime_of(queue, context_of(queue))->warm(ours);
  });
}

void release(cl_context context) {
  CallersDevices& all = callers_devices();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.runtimes, [&](const auto& entry) { return entry.first.first == context; });
}

}  // namespace duogemm::opencl
