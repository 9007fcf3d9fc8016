// The compiled kernels of one device: in memory, then on disk, then from the compiler.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backend.h"
#include "disk_cache.h"
#include "kernel_spec.h"

namespace duogemm {

// May be used by several threads.
class ProgramCache {
 public:
  explicit ProgramCache(Device& device, DiskCache disk = DiskCache(cache_directory()))
      : device_(device), disk_(std::move(disk)) {}

  // Throws build_failed with the compiler's log, or unsupported when compat/ says that the device lacks an
  // operation.
  std::shared_ptr<const Kernel> get(const KernelSpec& spec, const Tunables& tunables);
  // Lets go of a kernel: plans that have it keep it.
  void forget(const KernelSpec& spec, const Tunables& tunables);

 private:
  // Several threads prepare different kernels at once, and each kernel but once.
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Kernel> kernel;
  };
  std::shared_ptr<Slot> slot(const KernelSpec& spec, const Tunables& tunables);
  std::shared_ptr<const Kernel> obtain(const ProgramSource& source) const;
  // Null when the disk has none that the device takes.
  std::shared_ptr<const Kernel> load(const std::string& key, const std::string& entry) const;
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) const;
  void keep(const std::string& key, const Kernel& kernel) const;

  Device& device_;
  DiskCache disk_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

}  // namespace duogemm
