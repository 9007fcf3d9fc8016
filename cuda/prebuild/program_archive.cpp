#include "prebuild/program_archive.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

// Compiled into this file: there is nothing to link.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace duogemm::cuda {

// An archive is this, the entries, the compiler's name, and the blocks.
struct ProgramArchive::Head {
  std::array<char, 16> format;
  std::uint64_t bytes;  // of the whole archive
  std::uint32_t programs;
  std::uint32_t compiler_bytes;
};

namespace {

constexpr std::array<char, 16> format = {"duogemm cubins2"};

// A block is ended once it has this many bytes. Twice as many make an archive smaller by a tenth, and each
// program twice as slow to find.
constexpr std::size_t block_bytes = 512 * 1024;

std::string compressed(const std::string& block) {
  constexpr int level = 19;  // the smallest without more memory; unpacking is no slower
  std::string packed(ZSTD_compressBound(block.size()), '\0');
  const std::size_t bytes = ZSTD_compress(packed.data(), packed.size(), block.data(), block.size(), level);
  if (ZSTD_isError(bytes)) {
    throw Error(Status::out_of_memory, std::string("zstd: ") + ZSTD_getErrorName(bytes));
  }
  packed.resize(bytes);
  return packed;
}

template <typename Part>
void append(std::string& bytes, std::span<const Part> parts) {
  bytes.append(reinterpret_cast<const char*>(parts.data()), parts.size_bytes());
}

}  // namespace

ProgramKey program_key(const ProgramSource& source, std::string_view runtime, int compute_capability) {
  std::string whole = source.entry + "\n" + std::to_string(compute_capability) + "\n";
  whole += runtime;
  whole += "\n";
  for (const auto& [name, value] : source.defines) {
    whole += name + "=" + std::to_string(value) + "\n";
  }
  whole += source.text;
  const XXH128_hash_t hash = XXH3_128bits(whole.data(), whole.size());
  return {hash.high64, hash.low64};
}

std::string make_archive(const std::string& compiler, std::span<const ArchivedProgram> programs) {
  using Head = ProgramArchive::Head;
  using Entry = ProgramArchive::Entry;
  const std::size_t before = sizeof(Head) + programs.size() * sizeof(Entry) + compiler.size();
  std::vector<Entry> entries;
  std::string blocks;
  for (std::size_t next = 0; next < programs.size();) {
    const std::size_t first = next;
    std::string block;
    for (; next < programs.size() && block.size() < block_bytes; ++next) {
      block += programs[next].image;
    }
    const std::string packed = compressed(block);
    std::uint32_t begin = 0;
    for (const ArchivedProgram& program : programs.subspan(first, next - first)) {
      const auto bytes = static_cast<std::uint32_t>(program.image.size());
      entries.push_back({program.key, before + blocks.size(), static_cast<std::uint32_t>(packed.size()),
                         static_cast<std::uint32_t>(block.size()), begin, bytes});
      begin += bytes;
    }
    blocks += packed;
  }
  std::ranges::sort(entries, {}, &Entry::key);
  const Head head{format, before + blocks.size(), static_cast<std::uint32_t>(programs.size()),
                  static_cast<std::uint32_t>(compiler.size())};
  std::string bytes;
  append(bytes, std::span(&head, 1));
  append(bytes, std::span<const Entry>(entries));
  return bytes + compiler + blocks;
}

ProgramArchive::ProgramArchive(std::string_view bytes) {
  Head head;
  if (bytes.size() < sizeof head) {
    return;
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::size_t entry_bytes = head.programs * sizeof(Entry);
  if (head.format != format || head.bytes != bytes.size() ||
      sizeof head + entry_bytes + head.compiler_bytes > bytes.size()) {
    return;
  }
  bytes_ = bytes;
  entries_ = {reinterpret_cast<const Entry*>(bytes.data() + sizeof head), head.programs};
  compiler_ = bytes.substr(sizeof head + entry_bytes, head.compiler_bytes);
}

std::optional<std::string> ProgramArchive::find(const ProgramKey& key) const {
  const auto found = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  if (found == entries_.end() || found->key != key) {
    return std::nullopt;
  }
  std::string block(found->block_bytes, '\0');
  const std::size_t bytes =
      ZSTD_decompress(block.data(), block.size(), bytes_.data() + found->block_begin, found->packed_bytes);
  return bytes == block.size() ? std::optional(block.substr(found->begin, found->bytes)) : std::nullopt;
}

}  // namespace duogemm::cuda
