// A device that only compiles and loads programs, as far as anyone can see, and notes what it was asked for.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.h"

namespace duogemm::testing {

class CompiledKernel final : public Kernel {
 public:
  explicit CompiledKernel(std::function<std::string()> binary) : binary_(std::move(binary)) {}
  std::size_t sub_group_size(const Extent&) const override { return 1; }
  std::string binary() const override { return binary_(); }

 private:
  std::function<std::string()> binary_;
};

class CompilingDevice final : public Device {
 public:
  CompilingDevice() {
    facts.max_work_group = 1024;
    facts.local_bytes = 48 << 10;
    facts.max_groups = {1 << 20, 1 << 16, 1 << 16};
  }
  const DeviceInfo& info() const override { return facts; }
  std::unique_ptr<Buffer> allocate(std::size_t) override { return nullptr; }
  std::unique_ptr<Queue> create_queue() override { return nullptr; }
  std::string build_options(const ProgramSource& source) const override {
    std::string text = options;
    for (const auto& [name, value] : source.defines) {
      text += " " + name + "=" + std::to_string(value);
    }
    return text;
  }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    {
      const std::lock_guard lock(mutex_);
      compiled.push_back(source.entry + build_options(source));
    }
    at_work(source.entry);
    return std::make_shared<CompiledKernel>([this, entry = source.entry] { return binary(entry); });
  }
  std::shared_ptr<const Kernel> find_built(const ProgramSource&) override {
    return shipped ? std::make_shared<CompiledKernel>([] { return std::string(); }) : nullptr;
  }
  std::shared_ptr<const Kernel> load(const std::string& entry, const std::string& given) override {
    if (given != "binary of " + entry || refuses) {
      throw Error(Status::build_failed, "refused");
    }
    ++loaded;
    return std::make_shared<CompiledKernel>([] { return std::string(); });
  }

  DeviceInfo facts;
  std::string options = "-O2";
  std::function<void(const std::string& entry)> at_work = [](const std::string&) {};  // while it compiles
  std::function<std::string(const std::string& entry)> binary = [](const std::string& entry) {
    return "binary of " + entry;
  };
  bool shipped = false;  // everything is there without a compiler
  bool refuses = false;  // to load
  std::vector<std::string> compiled;
  int loaded = 0;

 private:
  std::mutex mutex_;
};

}  // namespace duogemm::testing
