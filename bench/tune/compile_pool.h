// Compiles several kernels at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <optional>
#include <thread>

#include "runtime/program_cache.h"

namespace duogemm::bench {

class CompilePool {
 public:
  struct Job {
    std::size_t id;
    const KernelSpec* spec;
    Tunables tunables;
    std::string failure = {};  // what the compiler said, for people; empty when it went well
  };

  // What is compiled goes to `programs`.
  CompilePool(ProgramCache& programs, unsigned threads);
  // Waits for those being compiled; those that nobody has begun are dropped.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  void add(Job job);
  // One that is done, in the order in which they became so; waits up to `seconds` for one.
  std::optional<Job> take(double seconds);
  // How many were added and not taken yet.
  std::size_t pending() const { return pending_; }

 private:
  void work();

  ProgramCache& programs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::deque<Job> done_;
  bool ending_ = false;
  std::size_t pending_ = 0;  // of the thread that adds and takes
  std::vector<std::thread> threads_;
};

}  // namespace duogemm::bench
