#include "runtime/program_cache.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <initializer_list>

#include "duogemm/version.h"
#include "families/kernel_source.h"
#include "system/log.h"

namespace duogemm {
namespace {

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
