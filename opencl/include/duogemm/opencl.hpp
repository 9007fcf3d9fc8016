// SGEMM on OpenCL's own handles.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <span>

#include "duogemm/sgemm.hpp"

namespace duogemm::opencl {

// A matrix, or the first of a batch, in device memory: from element `offset` of the buffer on.
struct Matrix {
  cl_mem buffer;
  std::size_t offset = 0;
};

// Puts the multiplication on the queue and returns: C is there when the queue has come past it, or when *done
// is complete. Nothing waits and, once the same problem has been seen in this context, nothing is compiled or
// allocated on the device. The commands start after the events in wait_for, and on an in-order queue after
// everything before them. The caller releases *done. Any thread may call, also several at once on one queue.
//
// Programs are kept for the context and its device until forget(context). Throws Error: invalid_argument
// names what is wrong (also a buffer of another context, or one too small), and nothing has been enqueued.
void sgemm(cl_command_queue queue, const Sgemm& problem, Matrix a, Matrix b, Matrix c,
           std::span<const cl_event> wait_for = {}, cl_event* done = nullptr);

// The same for problem.batch multiplications whose matrices lie anywhere in a, b and c: the tables hold the 64-bit offset
// of each, in elements and on top of Matrix::offset. The tables are device memory of the queue's context and are read when
// the commands run; what they say cannot be checked here. The strides of the problem do not count.
struct OffsetTables {
  cl_mem a;
  cl_mem b;
  cl_mem c;
};
void sgemm_batched(cl_command_queue queue, const Sgemm& problem, Matrix a, Matrix b, Matrix c, OffsetTables offsets,
                   std::span<const cl_event> wait_for = {}, cl_event* done = nullptr);

// Gives up the programs that are kept for a context, and the library's hold on it. No call on it may be
// running.
void forget(cl_context context);

}  // namespace duogemm::opencl
