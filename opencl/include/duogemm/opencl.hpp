// SGEMM on OpenCL's own handles. C++17.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "duogemm/sgemm.hpp"

namespace duogemm::opencl {

// A matrix, or the first of a batch, in device memory: from element `offset` of the buffer on.
struct Matrix {
  cl_mem buffer = nullptr;
  std::size_t offset = 0;
};

// Events that a call waits for: `size` from `data` on, or all of an array, a std::vector or a std::span.
struct Events {
  Events() = default;
  Events(const cl_event* first, std::size_t count) : data(first), size(count) {}
  template <std::size_t count>
  Events(const cl_event (&events)[count]) : data(events), size(count) {}
  template <typename Container, typename = std::enable_if_t<std::is_convertible_v<
                                    decltype(std::declval<const Container&>().data()), const cl_event*>>>
  Events(const Container& events) : data(events.data()), size(events.size()) {}

  const cl_event* data = nullptr;
  std::size_t size = 0;
};

// Workspace is device memory for what a call has to keep between its commands, which some problems need. By
// default the library sees to it: it keeps a piece for each queue, for the 64 that used it last, and replaces
// it when a call needs a larger one. A caller who wants to know, or to limit, what is allocated supplies it
// instead: from byte `offset` of a buffer on, a multiple of 256 and of CL_DEVICE_MEM_BASE_ADDR_ALIGN, which
// OpenCL counts in bits. In a sub-buffer, the multiple counts from where its parent begins.
struct Workspace {
  cl_mem buffer = nullptr;  // may be null where no byte is needed
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

// Puts the multiplication on the queue and returns: C is there when the queue has come past it, or when *done
// is complete. Nothing waits and, once the same problem has been seen in this context, nothing is compiled
// and, once it has been seen on this queue, nothing is allocated on the device. The commands start after the
// events in wait_for, and on an in-order queue after everything before them; on one that is out of order, a
// call that needs workspace also waits for everything before it. The caller releases *done. Any thread may
// call, also several at once on one queue.
//
// In a caller's workspace nothing is allocated, and what stands in it is lost. Calls on one queue may share
// it; on several queues each needs its own while its commands run.
//
// Programs and workspace are kept for the context and its device until release(context). Throws Error:
// invalid_argument names what is wrong (also a buffer of another context, one too small, or a workspace that
// is not aligned), and nothing has been enqueued; neither has it with out_of_memory when there is no memory
// for workspace.
void sgemm(cl_command_queue queue, const Sgemm& problem, Matrix a, Matrix b, Matrix c, Events wait_for = {},
           cl_event* done = nullptr, const std::optional<Workspace>& workspace = {});

// The same for problem.batch multiplications whose matrices lie anywhere in a, b and c: the tables hold the
// 64-bit offset of each, in elements and on top of Matrix::offset. The tables are device memory of the
// queue's context and are read when the commands run; what they say cannot be checked here. The strides of
// the problem do not count.
struct OffsetTables {
  cl_mem a;
  cl_mem b;
  cl_mem c;
};
void sgemm_batched(cl_command_queue queue, const Sgemm& problem, Matrix a, Matrix b, Matrix c,
                   OffsetTables offsets, Events wait_for = {}, cl_event* done = nullptr,
                   const std::optional<Workspace>& workspace = {});

// Products whose rows of A and C stand one after the other, and which have a B each, such as the tokens of
// the experts of a network. problem.batch is how many groups there are, and problem.m how many rows all have.
// `ends` has a 32-bit integer for each group: the rows before it that no group before has are the group's.
// The ends ascend, and none is above m; a group may be empty. They are read when the commands run. The B of a
// group begins a b_stride after that of the group before; a_stride and c_stride do not count. Where matrices
// are stored by columns, read "columns" for "rows", n for m, B for A, and a_stride for b_stride.
//
// C has no meaning after the last end. Ends that do not ascend give wrong results, and touch no other memory.
// Workspace is always needed. Throws as sgemm() does; also invalid_argument where m and 256 for each group
// are not below 2^31, and unsupported where k is not below 2^30.
void sgemm_grouped(cl_command_queue queue, const Sgemm& problem, Matrix ends, Matrix a, Matrix b, Matrix c,
                   Events wait_for = {}, cl_event* done = nullptr,
                   const std::optional<Workspace>& workspace = {});

// Answer how many bytes of workspace the call with the same problem needs on the queue's device; 0 for many.
std::size_t sgemm_workspace_bytes(cl_command_queue queue, const Sgemm& problem);
std::size_t sgemm_batched_workspace_bytes(cl_command_queue queue, const Sgemm& problem);
std::size_t sgemm_grouped_workspace_bytes(cl_command_queue queue, const Sgemm& problem);

// Compiles what later calls on the queue's device may need, or finds it on disk: see Context::warm. Allocates
// the queue's first workspace. Nothing is put on the queue. Throws as Context::warm does.
WarmUp warm(cl_command_queue queue);

// Gives up the programs and the workspace that are kept for a context, and the library's hold on it. No call
// on it may be running.
void release(cl_context context);

}  // namespace duogemm::opencl
