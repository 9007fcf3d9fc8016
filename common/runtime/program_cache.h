// The compiled kernels of one device: in memory, then on disk, then from the compiler.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "device/backend.h"
#include "families/kernel_spec.h"

namespace duogemm {

// May be used by any number of threads and processes at once.
class DiskCache {
 public:
  // An empty path turns the cache off. The directory is made when something is first stored.
  explicit DiskCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  bool enabled() const { return !directory_.empty(); }
  // Answers what was stored last under the key; nothing unless every byte of key and payload is as it was
  // stored, by this user, in a regular file that nobody else may write to.
  std::optional<std::string> load(std::string_view key) const;
  // Replaces what is there, wholly or not at all. A failure is only logged.
  void store(std::string_view key, std::string_view payload) const;

 private:
  std::filesystem::path file_of(std::string_view key) const;

  std::filesystem::path directory_;
};

// Programs are cached in DUOGEMM_CACHE_DIR, else in a folder of the user's. Empty when DUOGEMM_CACHE_DIR is
// set but empty, or when the system does not tell of one.
std::filesystem::path cache_directory();

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
