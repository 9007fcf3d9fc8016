// Compiled programs in one piece of memory, compressed in blocks of a dozen or so: programs have much in
// common, and one is had without most of the others.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/backend.h"

namespace duogemm::cuda {

// Stands for all that decides what a program is, but for the compiler: entry, text, defines, the runtime that
// launches it ("cuda" or "opencl") and compute capability. No two that there are have the same.
struct ProgramKey {
  std::uint64_t high;
  std::uint64_t low;
  auto operator<=>(const ProgramKey&) const = default;
};
ProgramKey program_key(const ProgramSource& source, std::string_view runtime, int compute_capability);

struct ArchivedProgram {
  ProgramKey key;
  std::string image;
};

// The archive as bytes. Programs that are like each other are best neighbours. No two have the same key.
// compiler: what the programs were compiled with, in words.
std::string make_archive(const std::string& compiler, std::span<const ArchivedProgram> programs);

class ProgramArchive {
 public:
  // The bytes must outlive it. Empty when they are not a whole archive.
  explicit ProgramArchive(std::string_view bytes);

  std::string_view compiler() const { return compiler_; }
  std::size_t size() const { return entries_.size(); }
  ProgramKey key(std::size_t i) const { return entries_[i].key; }
  std::optional<std::string> find(const ProgramKey& key) const;

 private:
  struct Entry {
    ProgramKey key;
    std::uint64_t block_begin;   // in the archive
    std::uint32_t packed_bytes;  // of the block
    std::uint32_t block_bytes;   // of the block, unpacked
    std::uint32_t begin;         // of the image in the unpacked block
    std::uint32_t bytes;         // of the image
  };
  struct Head;
  friend std::string make_archive(const std::string&, std::span<const ArchivedProgram>);

  std::string_view bytes_;
  std::string_view compiler_;
  std::span<const Entry> entries_;  // in ascending order of their keys
};

// The programs that the library carries for devices whose measurements it carries too: made at build time,
// through CUDA by the compiler and with the options of run time.
const ProgramArchive& shipped_programs();

// The cubin for exactly that program, runtime and compute capability; nothing when the library has none.
std::optional<std::string> shipped_program(const ProgramSource& source, std::string_view runtime,
                                           int compute_capability);

// Which programs the library carries: for each of its tuning files that names a compute capability, those
// that such a device may need. Each once.
struct ShippedProgram {
  ProgramSource source;
  std::string runtime;  // "cuda" or "opencl"
  int compute_capability;
};

// For these runtimes, with programs next to each other that differ little. OpenCL's kernels that declare more
// local memory than every device has are left out.
std::vector<ShippedProgram> programs_to_ship(const std::vector<std::string>& runtimes);

}  // namespace duogemm::cuda
