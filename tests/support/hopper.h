// A device of whose kind the library ships measurements, and one like it, for tests that plan and run
// nothing.
#pragma once

#include "device/device_info.h"

namespace duogemm::testing {

// A GPU as large, of which the library knows nothing else.
inline DeviceInfo large_gpu(bool clusters) {
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

// As far as a plan depends on it.
inline DeviceInfo hopper(int compute_capability = 90) {
  DeviceInfo info;
  info.backend = "cuda";
  info.kind = DeviceKind::gpu;
  info.name = "NVIDIA H200";
  info.compute_capability = compute_capability;
  info.compute_units = 132;
  info.clock_mhz = 1980;
  info.cache_bytes = 60'000'000;
  info.local_bytes = 48 << 10;
  info.dynamic_local_bytes = dynamic_local_bytes(compute_capability);
  info.max_work_group = 1024;
  info.max_groups = {0x7fffffff, 65535, 65535};
  info.clusters = true;
  return info;
}

}  // namespace duogemm::testing
