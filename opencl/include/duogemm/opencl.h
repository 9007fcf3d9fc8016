/* SGEMM on OpenCL's own handles, in C; see duogemm/opencl.hpp. */
#ifndef DUOGEMM_OPENCL_H
#define DUOGEMM_OPENCL_H

#include <CL/cl.h>
#include <stddef.h>

#include "duogemm/duogemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts the multiplication on the queue and returns. Offsets in elements. wait_for holds wait_count events and
   may be null when that is 0; done may be null. */
duogemm_status duogemm_opencl_sgemm(cl_command_queue queue, const duogemm_problem* problem, cl_mem a,
                                    size_t a_offset, cl_mem b, size_t b_offset, cl_mem c, size_t c_offset,
                                    size_t wait_count, const cl_event* wait_for, cl_event* done);

/* The same for problem->batch multiplications whose matrices lie anywhere in a, b and c: the offset buffers
   hold the 64-bit offset of each, in elements and on top of the call's offsets. The strides do not count. */
duogemm_status duogemm_opencl_sgemm_batched(cl_command_queue queue, const duogemm_problem* problem, cl_mem a,
                                            size_t a_offset, cl_mem a_offsets, cl_mem b, size_t b_offset,
                                            cl_mem b_offsets, cl_mem c, size_t c_offset, cl_mem c_offsets,
                                            size_t wait_count, const cl_event* wait_for, cl_event* done);

/* Products whose rows of A and C stand one after the other, of problem->batch groups that have a B each: see
   duogemm::opencl::sgemm_grouped. From element ends_offset on, ends has a 32-bit end for each group. */
duogemm_status duogemm_opencl_sgemm_grouped(cl_command_queue queue, const duogemm_problem* problem,
                                            cl_mem ends, size_t ends_offset, cl_mem a, size_t a_offset,
                                            cl_mem b, size_t b_offset, cl_mem c, size_t c_offset,
                                            size_t wait_count, const cl_event* wait_for, cl_event* done);

/* How many bytes of workspace the call with the same problem needs on the queue's device. */
duogemm_status duogemm_opencl_sgemm_workspace_bytes(cl_command_queue queue, const duogemm_problem* problem,
                                                    size_t* bytes);
duogemm_status duogemm_opencl_sgemm_batched_workspace_bytes(cl_command_queue queue,
                                                            const duogemm_problem* problem, size_t* bytes);

/* The calls above in workspace that the caller supplies: workspace_bytes from byte workspace_offset of a
   buffer on. The offset is a multiple of 256 and of CL_DEVICE_MEM_BASE_ADDR_ALIGN; the buffer may be null
   where no byte is needed. */
duogemm_status duogemm_opencl_sgemm_with_workspace(cl_command_queue queue, const duogemm_problem* problem,
                                                   cl_mem a, size_t a_offset, cl_mem b, size_t b_offset,
                                                   cl_mem c, size_t c_offset, size_t wait_count,
                                                   const cl_event* wait_for, cl_event* done, cl_mem workspace,
                                                   size_t workspace_offset, size_t workspace_bytes);
duogemm_status duogemm_opencl_sgemm_batched_with_workspace(
    cl_command_queue queue, const duogemm_problem* problem, cl_mem a, size_t a_offset, cl_mem a_offsets,
    cl_mem b, size_t b_offset, cl_mem b_offsets, cl_mem c, size_t c_offset, cl_mem c_offsets,
    size_t wait_count, const cl_event* wait_for, cl_event* done, cl_mem workspace, size_t workspace_offset,
    size_t workspace_bytes);

/* Compiles what later calls on the queue's device may need, or finds it on disk: see duogemm::Context::warm.
   Allocates the queue's first workspace. Nothing is put on the queue. */
duogemm_status duogemm_opencl_warm(cl_command_queue queue);

/* Gives up the programs and the workspace that are kept for a context. No call on it may be running. */
void duogemm_opencl_release(cl_context context);

#ifdef __cplusplus
}
#endif

#endif
