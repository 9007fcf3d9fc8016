// A device in memory that fails when it is told to, and remembers what it was asked for. It compiles as far
// as anyone can see.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/backend.h"

namespace duogemm::testing {

enum class Operation { open, create_queue, allocate, compile, write, launch, read, finish };

struct Launch {
  std::string entry;
  bool after_barrier;  // whether a barrier stands between it and the launch before it
  std::uintptr_t queue;
  std::thread::id thread;
  std::vector<const float*> begins;  // of matrices
};

// Mistakes that a device makes, and what it was seen to do. Operations are counted from 1. Threads take turns
// at it.
struct Faults {
  int fails_at = 0;          // this operation alone; 0: none
  int lost_from = 0;         // this and all after it; 0: never
  bool host_memory = false;  // it fails with bad_alloc, as when the host has no memory left
  bool in_place = false;     // it works on the host's memory
  bool idle = false;         // its kernels do nothing
  std::string refusal = {};  // why its products are not to be relied upon
  std::size_t memory = std::numeric_limits<std::size_t>::max();  // bytes that one allocation may have

  // Fails where one allocation may not have this many bytes.
  void require_memory(std::size_t bytes) const;

  int operations = 0;
  int allocations = 0;                   // among them
  std::optional<Operation> failed = {};  // the first that did
  int live_buffers = 0;
  std::size_t live_bytes = 0;  // of buffers, and the most there were
  std::size_t most_bytes = 0;
  int live_others = 0;  // device, queues, kernels and slices
  std::vector<Launch> launched = {};

  void pass(Operation operation);
};

// The turn of one thread.
class Turn {
 private:
  static inline std::mutex mutex_;
  const std::lock_guard<std::mutex> lock_{mutex_};
};

// Counts the objects that hold one.
class Counted {
 public:
  explicit Counted(int& live) : live_(live) {
    const Turn turn;
    ++live_;
  }
  ~Counted() {
    const Turn turn;
    --live_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  int& live_;
};

class FakeBuffer final : public Buffer {
 public:
  FakeBuffer(Faults& faults, std::size_t bytes)
      : faults_(faults), counted_(faults.live_buffers), memory_(bytes / sizeof(float)), part_(memory_) {
    const Turn turn;
    faults_.live_bytes += bytes;
    faults_.most_bytes = std::max(faults_.most_bytes, faults_.live_bytes);
  }
  FakeBuffer(Faults& faults, std::span<float> part)
      : faults_(faults), counted_(faults.live_others), part_(part) {}
  ~FakeBuffer() override {
    const Turn turn;
    faults_.live_bytes -= memory_.size() * sizeof(float);
  }
  std::size_t bytes() const override { return part_.size_bytes(); }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override {
    return std::make_unique<FakeBuffer>(faults_,
                                        part_.subspan(offset / sizeof(float), bytes / sizeof(float)));
  }
  std::uintptr_t native() const override { return 0; }
  float* data() const { return part_.data(); }

 private:
  Faults& faults_;
  Counted counted_;
  std::vector<float> memory_;  // empty where this is a slice
  std::span<float> part_;
};

class FakeKernel final : public Kernel {
 public:
  FakeKernel(Faults& faults, std::string entry, std::function<std::string()> binary = {})
      : counted_(faults.live_others), entry_(std::move(entry)), binary_(std::move(binary)) {}
  std::size_t sub_group_size(const Extent&) const override { return 32; }
  std::string binary() const override { return binary_ ? binary_() : std::string(); }
  const std::string& entry() const { return entry_; }

 private:
  Counted counted_;
  std::string entry_;
  std::function<std::string()> binary_;
};

class FakeQueue final : public Queue {
 public:
  explicit FakeQueue(Faults& faults)
      : now{reinterpret_cast<std::uintptr_t>(this)}, faults_(faults), counted_(faults.live_others) {}
  void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override;
  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override;
  void barrier(bool) override {
    const Turn turn;
    barrier_ = true;
  }
  void finish() override { faults_.pass(Operation::finish); }
  double timed(const std::function<void()>& enqueue) override {
    enqueue();
    finish();
    return 0.0;
  }
  std::uintptr_t native() const override { return now.handle; }
  QueueState state() const override { return now; }
  std::unique_ptr<Buffer> graph_memory(std::size_t bytes) override {
    faults_.pass(Operation::allocate);
    faults_.require_memory(bytes);
    return in_graph.emplace_back(std::make_unique<FakeBuffer>(faults_, bytes))->slice(0, bytes);
  }
  void with_device(const std::function<void()>& work) override { work(); }

  QueueState now;
  std::vector<std::unique_ptr<FakeBuffer>> in_graph = {};  // a piece for each call that was captured
  std::function<void()> before_launch = [] {};

 private:
  Faults& faults_;
  Counted counted_;
  bool barrier_ = false;  // since the last launch
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(Faults& faults) : FakeDevice(faults, standard_info()) {
    facts.host_memory = faults.in_place;
  }
  FakeDevice(Faults& faults, DeviceInfo info)
      : facts(std::move(info)), faults_(faults), counted_(faults.live_others) {}
  const DeviceInfo& info() const override { return facts; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    faults_.pass(Operation::allocate);
    faults_.require_memory(bytes);
    return std::make_unique<FakeBuffer>(faults_, bytes);
  }
  std::unique_ptr<Buffer> wrap(const void* host) override {
    float* const first = static_cast<float*>(const_cast<void*>(host));
    return std::make_unique<FakeBuffer>(faults_, std::span(first, std::numeric_limits<std::int32_t>::max()));
  }
  std::unique_ptr<Queue> create_queue() override {
    faults_.pass(Operation::create_queue);
    return std::make_unique<FakeQueue>(faults_);
  }
  std::string build_options(const ProgramSource& source) const override {
    std::string text = options;
    for (const auto& [name, value] : source.defines) {
      text += " " + name + "=" + std::to_string(value);
    }
    return text;
  }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    faults_.pass(Operation::compile);
    {
      const Turn turn;
      compiled.push_back(source.entry + build_options(source));
    }
    at_work(source.entry);
    return std::make_shared<FakeKernel>(faults_, source.entry,
                                        [this, entry = source.entry] { return binary(entry); });
  }
  std::shared_ptr<const Kernel> find_built(const ProgramSource& source) override {
    return shipped ? std::make_shared<FakeKernel>(faults_, source.entry) : nullptr;
  }
  std::shared_ptr<const Kernel> load(const std::string& entry, const std::string& given) override {
    if (given != binary_of(entry) || refuses) {
      throw Error(Status::build_failed, "refused");
    }
    ++loaded;
    return std::make_shared<FakeKernel>(faults_, entry);
  }
  std::string refusal(const KnownProduct&) override { return faults_.refusal; }

  // `load` takes this.
  static std::string binary_of(const std::string& entry) { return "binary of " + entry; }

  DeviceInfo facts;
  std::string options = {};
  std::function<void(const std::string& entry)> at_work = [](const std::string&) {};  // while it compiles
  std::function<std::string(const std::string& entry)> binary = [](const std::string&) { return ""; };
  bool shipped = false;  // everything is there without a compiler
  bool refuses = false;  // to load
  std::vector<std::string> compiled = {};
  int loaded = 0;

 private:
  static DeviceInfo standard_info() {
    DeviceInfo info;
    info.name = "fake";
    info.slice_alignment = 512;
    info.max_work_group = 1024;
    info.local_bytes = 48 << 10;
    info.max_groups = {1 << 20, 1 << 16, 1 << 16};
    info.shuffle = true;
    return info;
  }

  Faults& faults_;
  Counted counted_;
};

}  // namespace duogemm::testing
