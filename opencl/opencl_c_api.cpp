#include "api/c_api.h"
#include "duogemm/opencl.h"
#include "duogemm/opencl.hpp"

using namespace duogemm;

duogemm_status duogemm_opencl_sgemm(cl_command_queue queue, const duogemm_problem* problem, cl_mem a,
                                    size_t a_offset, cl_mem b, size_t b_offset, cl_mem c, size_t c_offset,
                                    size_t wait_count, const cl_event* wait_for, cl_event* done) {
  return call_from_c(problem, [&](const Sgemm& request) {
    opencl::sgemm(queue, request, {a, a_offset}, {b, b_offset}, {c, c_offset}, {wait_for, wait_count}, done);
  });
}

duogemm_status duogemm_opencl_sgemm_batched(cl_command_queue queue, const duogemm_problem* problem, cl_mem a,
                                            size_t a_offset, cl_mem a_offsets, cl_mem b, size_t b_offset,
                                            cl_mem b_offsets, cl_mem c, size_t c_offset, cl_mem c_offsets,
                                            size_t wait_count, const cl_event* wait_for, cl_event* done) {
  return call_from_c(problem, [&](const Sgemm& request) {
    opencl::sgemm_batched(queue, request, {a, a_offset}, {b, b_offset}, {c, c_offset},
                          {a_offsets, b_offsets, c_offsets}, {wait_for, wait_count}, done);
  });
}

duogemm_status duogemm_opencl_sgemm_grouped(cl_command_queue queue, const duogemm_problem* problem,
                                            cl_mem ends, size_t ends_offset, cl_mem a, size_t a_offset,
                                            cl_mem b, size_t b_offset, cl_mem c, size_t c_offset,
                                            size_t wait_count, const cl_event* wait_for, cl_event* done) {
  return call_from_c(problem, [&](const Sgemm& request) {
    opencl::sgemm_grouped(queue, request, {ends, ends_offset}, {a, a_offset}, {b, b_offset}, {c, c_offset},
                          {wait_for, wait_count}, done);
  });
}

duogemm_status duogemm_opencl_sgemm_workspace_bytes(cl_command_queue queue, const duogemm_problem* problem,
                                                    size_t* bytes) {
  return bytes_from_c(problem, bytes,
                      [&](const Sgemm& request) { return opencl::sgemm_workspace_bytes(queue, request); });
}

duogemm_status duogemm_opencl_sgemm_batched_workspace_bytes(cl_command_queue queue,
                                                            const duogemm_problem* problem, size_t* bytes) {
  return bytes_from_c(problem, bytes, [&](const Sgemm& request) {
    return opencl::sgemm_batched_workspace_bytes(queue, request);
  });
}

duogemm_status duogemm_opencl_sgemm_with_workspace(cl_command_queue queue, const duogemm_problem* problem,
                                                   cl_mem a, size_t a_offset, cl_mem b, size_t b_offset,
                                                   cl_mem c, size_t c_offset, size_t wait_count,
                                                   const cl_event* wait_for, cl_event* done, cl_mem workspace,
                                                   size_t workspace_offset, size_t workspace_bytes) {
  return call_from_c(problem, [&](const Sgemm& request) {
    opencl::sgemm(queue, request, {a, a_offset}, {b, b_offset}, {c, c_offset}, {wait_for, wait_count}, done,
                  opencl::Workspace{workspace, workspace_offset, workspace_bytes});
  });
}

duogemm_status duogemm_opencl_sgemm_batched_with_workspace(
    cl_command_queue queue, const duogemm_problem* problem, cl_mem a, size_t a_offset, cl_mem a_offsets,
    cl_mem b, size_t b_offset, cl_mem b_offsets, cl_mem c, size_t c_offset, cl_mem c_offsets,
    size_t wait_count, const cl_event* wait_for, cl_event* done, cl_mem workspace, size_t workspace_offset,
    size_t workspace_bytes) {
  return call_from_c(problem, [&](const Sgemm& request) {
    opencl::sgemm_batched(queue, request, {a, a_offset}, {b, b_offset}, {c, c_offset},
                          {a_offsets, b_offsets, c_offsets}, {wait_for, wait_count}, done,
                          opencl::Workspace{workspace, workspace_offset, workspace_bytes});
  });
}

duogemm_status duogemm_opencl_warm(cl_command_queue queue) {
  return call_from_c([&] { opencl::warm(queue); });
}

void duogemm_opencl_release(cl_context context) { opencl::release(context); }
