// The compiled kernels of one device: in memory, then on disk, then from the compiler.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "device/backend.h"
#include "families/kernel_spec.h"
#include "runtime/disk_cache.h"

namespace duogemm {

// Answers what the compiler is given. Throws as load_kernel does.
ProgramSource program_source(const Variant& variant);

// Names as a text all of a device, its driver and the library that decides what a program is and does.
std::string key_of(const DeviceInfo& info);

// May be used by several threads.
class ProgramCache {
 public:
  explicit ProgramCache(Device& device, DiskCache disk = DiskCache(cache_directory()))
      : device_(device), disk_(std::move(disk)) {}

  // Throws build_failed with the compiler's log, or unsupported when the device lacks an operation.
  std::shared_ptr<const Kernel> get(const Variant& variant) { return obtain(variant).kernel; }
  // Does the same ahead of time. Answers whether a compiler had to work for it.
  bool prepare(const Variant& variant) { return obtain(variant).compiled; }
  // Lets go of a kernel: plans that have it keep it.
  void erase(const Variant& variant);

 private:
  struct Obtained {
    std::shared_ptr<const Kernel> kernel;
    bool compiled;
  };
  // Several threads prepare different kernels at once, and each kernel but once.
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Kernel> kernel;
  };
  std::shared_ptr<Slot> slot(const Variant& variant);
  Obtained obtain(const Variant& variant);
  // Null when the disk has none that the device takes.
  std::shared_ptr<const Kernel> load(const std::string& key, const std::string& entry) const;
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) const;
  void keep(const std::string& key, const Kernel& kernel) const;

  Device& device_;
  DiskCache disk_;
  std::mutex mutex_;
  std::unordered_map<const Variant*, std::shared_ptr<Slot>> slots_;
};

}  // namespace duogemm
