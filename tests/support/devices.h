// Devices that are not here, as far as a plan depends on them, and problems.
#pragma once

#include "device/device_info.h"
#include "problem/problem.h"

namespace duogemm::testing {

// A GPU of which the library knows nothing else.
inline DeviceInfo large_gpu(bool clusters = false) {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.compute_units = 132;
  info.clock_mhz = 1980;
  info.cache_bytes = 60'000'000;
  info.local_bytes = 48 * 1024;
  info.max_work_group = 1024;
  info.max_groups = {1u << 31, 65535, 65535};
  info.clusters = clusters;
  return info;
}

// One as large, of whose kind the library ships measurements.
inline DeviceInfo hopper(int compute_capability = 90) {
  DeviceInfo info = large_gpu(true);
  info.backend = "cuda";
  info.name = "NVIDIA H200";
  info.compute_capability = compute_capability;
  info.dynamic_local_bytes = dynamic_local_bytes(compute_capability);
  info.max_groups[0] = 0x7fffffff;
  return info;
}

inline DeviceInfo cpu(std::size_t vector_floats, std::size_t cores = 2, std::size_t local_bytes = 1 << 20) {
  DeviceInfo device;
  device.backend = "opencl";
  device.kind = DeviceKind::cpu;
  device.vector_floats = vector_floats;
  device.compute_units = cores;
  device.core_cache_bytes = 1 << 20;
  device.local_bytes = local_bytes;
  device.max_work_group = 4096;
  device.max_groups.fill(1 << 30);
  return device;
}

// op(A) op(B) for "TN" and the like, with a gap after each column and after each matrix of a batch.
inline Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops = "NN",
                          std::int64_t gap = 0, std::int64_t batch = 1) {
  Problem p = Problem::packed(m, n, k);
  p.a_op = ops[0] == 'T' ? Transpose::yes : Transpose::no;
  p.b_op = ops[1] == 'T' ? Transpose::yes : Transpose::no;
  p.lda = p.a_rows() + gap;
  p.ldb = p.b_rows() + gap;
  p.ldc = m + gap;
  p.batch = batch;
  p.a_stride = p.a_elements() + gap;
  p.b_stride = p.b_elements() + gap;
  p.c_stride = p.c_elements() + gap;
  return p;
}

}  // namespace duogemm::testing
