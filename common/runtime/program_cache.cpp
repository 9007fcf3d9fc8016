#include "runtime/program_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "duogemm/version.h"
#include "families/kernel_source.h"
#include "system/files.h"
#include "system/folders.h"
#include "system/log.h"

// The hash is compiled into this file: users of the library need not link another.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace duogemm {
namespace {

namespace fs = std::filesystem;

// Raise it when the layout of the files changes: it is part of their names and of their headers.
constexpr int format_version = 1;

// Far above any program; a larger file is not one of ours.
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

// A file's name begins so until it is whole; UnfinishedFile adds six letters.
constexpr std::string_view unfinished_begin = "new-";
constexpr std::size_t unfinished_length = unfinished_begin.size() + 6;

std::string reason(int error) { return std::generic_category().message(error); }

std::string hex(unsigned long long value) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", value);
  return digits.data();
}

std::string hash(std::string_view bytes) {
  const XXH128_hash_t value = XXH3_128bits_withSeed(bytes.data(), bytes.size(), format_version);
  return hex(value.high64) + hex(value.low64);
}

// A file is this, the key, a newline, and the payload. The whole key is in it, because its hash, the file's
// name, could be another key's as well. Its length is always the same.
std::string header(std::string_view key, std::string_view payload) {
  return "duogemm cache " + std::to_string(format_version) + "\nkey " + hex(key.size()) + "\npayload " +
         hex(payload.size()) + " " + hash(payload) + "\n";
}

// The payload, if the file is, to the byte, what is stored for this key and some payload; otherwise nothing,
// with the reason in `why`, which stays empty when there is no file.
std::optional<std::string> read_trusted(const fs::path& path, std::string_view key, std::string& why) {
  const File file = File::to_read(path, File::Links::refuse);
  const std::optional<FileFacts> facts = file.facts();
  if (!facts) {
    why = errno == ENOENT ? "" : reason(errno);
    return std::nullopt;
  }
  if (!facts->is_private || facts->bytes > most_bytes) {
    why = "not a file that only this user can have written";
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(facts->bytes);
  std::string start(header(key, {}).size() + key.size() + 1, '\0');
  std::string payload(bytes - std::min(bytes, start.size()), '\0');
  if (bytes >= start.size() &&
      !(file.read_all(start.data(), start.size()) && file.read_all(payload.data(), payload.size()))) {
    why = "it could not be read";
    return std::nullopt;
  }
  const std::string expected = header(key, payload);
  if (!start.starts_with(expected) || start.compare(expected.size(), key.size(), key) != 0 ||
      start.back() != '\n') {
    why = "damaged, or made for something else";
    return std::nullopt;
  }
  return payload;
}

// A failure shows when a file is made in it.
void make_directories(const fs::path& path) {
  fs::path made;
  for (const fs::path& name : path) {
    made /= name;
    make_private_folder(made);
  }
}

// Renamed when it is whole, so that no reader ever finds a part of it and the last of several writers wins.
// False, with errno, when that fails.
bool write_whole(const fs::path& path, std::string_view key, std::string_view payload) {
  UnfinishedFile unfinished(path.parent_path() / unfinished_begin, File::Access::owner);
  const File& file = unfinished.file();
  return file.is_open() && file.write_all(header(key, payload)) && file.write_all(key) &&
         file.write_all("\n") && file.write_all(payload) && unfinished.finish(path);
}

// A process that was killed while it wrote has left its file, which nobody will rename. One that is older
// than any write takes is removed.
void remove_leftovers(const fs::path& directory) {
  constexpr std::chrono::hours age(1);
  std::error_code nothing_there;
  for (const auto& entry : fs::directory_iterator(directory, nothing_there)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != unfinished_length || !name.starts_with(unfinished_begin)) {
      continue;
    }
    File file = File::to_read(entry.path(), File::Links::refuse);
    const std::optional<FileFacts> facts = file.facts();
    if (facts && facts->is_private &&
        std::time(nullptr) - facts->written > std::chrono::seconds(age).count()) {
      file.close();  // some systems remove no open file
      fs::remove(entry.path(), nothing_there);
    }
  }
}

// compat/ ends an operation that a target lacks in: #error "unsupported: <reason>".
std::string lacking_operation(const std::string& log) {
  static const std::string marker = "unsupported: ";
  const std::size_t start = log.find(marker);
  if (start == std::string::npos) {
    return {};
  }
  const std::size_t reason = start + marker.size();
  return log.substr(reason, log.find_first_of("\"\n", reason) - reason);
}

// Each field begins with its length: no two lists of fields give the same text.
void append(std::string& key, std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields) {
    key += std::to_string(field.size()) + ":";
    key += field;
  }
}

// All that decides what the compiler answers.
std::string key_of(const Device& device, const ProgramSource& source) {
  std::string key = key_of(device.info());
  key.reserve(key.size() + source.text.size() + 4096);
  append(key, {source.entry, device.build_options(source), source.text});
  return key;
}

// Logs how a kernel was obtained, unless there is none, and how long that took.
template <typename Make>
std::shared_ptr<const Kernel> timed(const char* how, const std::string& entry, const Device& device,
                                    const Make& make) {
  const auto start = std::chrono::steady_clock::now();
  std::shared_ptr<const Kernel> kernel = make();
  if (kernel) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f s",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    log_line(how + (" " + entry) + " for " + device.info().name + " in " + seconds);
  }
  return kernel;
}

}  // namespace

std::optional<std::string> DiskCache::load(std::string_view key) const {
  if (!enabled()) {
    return std::nullopt;
  }
  const fs::path path = file_of(key);
  std::string why;
  std::optional<std::string> payload = read_trusted(path, key, why);
  if (!why.empty()) {
    log_line("ignored " + path.string() + ": " + why);
  }
  return payload;
}

void DiskCache::store(std::string_view key, std::string_view payload) const {
  if (!enabled()) {
    return;
  }
  make_directories(directory_);
  remove_leftovers(directory_);
  const fs::path path = file_of(key);
  // Another process may have stored it meanwhile, and some systems replace no file that is being read.
  std::string why;
  if (read_trusted(path, key, why) != payload && !write_whole(path, key, payload)) {
    log_line("could not write " + path.string() + ": " + reason(errno));
  }
}

fs::path DiskCache::file_of(std::string_view key) const { return directory_ / hash(key); }

fs::path cache_directory() { return user_directory("DUOGEMM_CACHE_DIR", UserFolder::cache); }

std::string key_of(const DeviceInfo& info) {
  std::string key;
  append(key, {DUOGEMM_VERSION, info.backend, info.name, info.vendor, info.platform, info.platform_version,
               info.driver, info.runtime, std::to_string(info.compute_capability)});
  return key;
}

ProgramSource program_source(const Variant& variant) {
  const KernelSource& source = load_kernel(variant.spec->path);
  return {variant.spec->name, kernel_text(variant.spec->path),
          Defines(variant.tunables.begin(), variant.tunables.end()), source.needs.alone, source.embedded};
}

void ProgramCache::erase(const Variant& variant) {
  const std::lock_guard lock(mutex_);
  slots_.erase(&variant);
}

std::shared_ptr<ProgramCache::Slot> ProgramCache::slot(const Variant& variant) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Slot>& found = slots_[&variant];
  if (!found) {
    found = std::make_shared<Slot>();
  }
  return found;
}

ProgramCache::Obtained ProgramCache::obtain(const Variant& variant) {
  const std::shared_ptr<Slot> own = slot(variant);
  const std::lock_guard lock(own->mutex);
  if (own->kernel) {
    return {own->kernel, false};
  }
  const ProgramSource source = program_source(variant);
  own->kernel = timed("had", source.entry, device_, [&] { return device_.find_built(source); });
  const std::string key = own->kernel || !disk_.enabled() ? "" : key_of(device_, source);
  if (!key.empty()) {
    own->kernel = load(key, source.entry);
  }
  const bool compiled = !own->kernel;
  if (compiled) {
    own->kernel = compile(source);
    keep(key, *own->kernel);
  }
  return {own->kernel, compiled};
}

std::shared_ptr<const Kernel> ProgramCache::load(const std::string& key, const std::string& entry) const {
  try {
    return timed("loaded", entry, device_, [&]() -> std::shared_ptr<const Kernel> {
      const std::optional<std::string> binary = disk_.load(key);
      return binary ? device_.load(entry, *binary) : nullptr;
    });
  } catch (const std::exception& error) {  // whatever is wrong, compiling either helps or says so
    log_line("could not load " + entry + ": " + error.what());
    return nullptr;
  }
}

std::shared_ptr<const Kernel> ProgramCache::compile(const ProgramSource& source) const {
  try {
    return timed("compiled", source.entry, device_, [&] { return device_.compile(source); });
  } catch (const Error& error) {
    const std::string reason = lacking_operation(error.what());
    if (error.status() == Status::build_failed && !reason.empty()) {
      throw Error(Status::unsupported, reason);
    }
    throw;
  }
}

void ProgramCache::keep(const std::string& key, const Kernel& kernel) const {
  try {
    if (const std::string binary = key.empty() ? "" : kernel.binary(); !binary.empty()) {
      disk_.store(key, binary);
    }
  } catch (const std::exception& error) {  // the kernel itself is good
    log_line(std::string("could not keep a program: ") + error.what());
  }
}

}  // namespace duogemm
