// Work in processes and threads of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

namespace duogemm::testing {

// `work` answers whether all is right. It may take rights and limits from its process.
inline void expect_in_processes(int count, const std::function<bool(int process)>& work) {
  std::vector<pid_t> children;
  for (int process = 0; process < count; ++process) {
    children.push_back(fork());
    if (children.back() == 0) {
      alarm(300);  // where nothing answers any more
      _exit(work(process) ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

// Tells whether it is right in every thread.
inline bool in_threads(int count, const std::function<bool(int thread)>& work) {
  std::vector<char> right(static_cast<std::size_t>(count));
  std::vector<std::thread> running;
  for (int thread = 0; thread < count; ++thread) {
    running.emplace_back([&, thread] { right[static_cast<std::size_t>(thread)] = work(thread); });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  return std::find(right.begin(), right.end(), false) == right.end();
}

}  // namespace duogemm::testing
