// Makes sure that operands come from memory.
#pragma once

#include <functional>
#include <memory>

#include "device/backend.h"

namespace duogemm::bench {

class ColdCaches {
 public:
  // Both must outlive this.
  ColdCaches(Device& device, Queue& queue);

  // Answers how many sets of operands, of that many bytes each, the executions within a sample take in turn,
  // so that none finds its operands in a cache.
  static std::size_t sets(std::size_t operands, const DeviceInfo& info);
  // This takes several times what the caches hold of device memory.
  static std::size_t bytes(const DeviceInfo& info);
  // Before a sample: fills the caches with other data.
  void clear() { write_other_data_(); }

 private:
  std::function<void()> write_other_data_;
};

}  // namespace duogemm::bench
