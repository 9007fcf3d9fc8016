// A queue on the host's own memory: what is enqueued is done before the call returns.
#pragma once

#include <chrono>
#include <cstring>

#include "device/backend.h"

namespace duogemm {

class HostQueue : public Queue {
 public:
  void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to.native() + offset), from, bytes);
  }
  void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from.native() + offset), bytes);
  }
  void barrier(bool) override {}
  void finish() override {}
  double timed(const std::function<void()>& enqueue) override {
    const auto start = std::chrono::steady_clock::now();
    enqueue();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(this); }
  QueueState state() const override { return {native()}; }
  void with_device(const std::function<void()>& work) override { work(); }
};

}  // namespace duogemm
