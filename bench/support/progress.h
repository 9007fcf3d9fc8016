// Tells what is going on, in a line of a terminal that is rewritten in place, and elsewhere by a line a
// minute.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include "support/format.h"
#include "system/terminal.h"

namespace duogemm::bench {

class Progress {
 public:
  Progress() = default;
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what) {
    if (is_terminal_) {
      std::fprintf(stderr, "\r\033[K%.78s", what.c_str());
      std::fflush(stderr);
    } else if (const auto now = std::chrono::steady_clock::now(); now - said_ >= std::chrono::minutes(1)) {
      std::fprintf(stderr, "... %s\n", what.c_str());
      said_ = now;
    }
  }
  void clear() {
    if (is_terminal_) {
      show("");
    }
  }

 private:
  const bool is_terminal_ = is_terminal(stderr);
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

// "40 s" or "3 min": how long something takes, about.
inline std::string duration_text(double seconds) {
  constexpr double minute = 60.0;
  return seconds < 1.5 * minute ? format("%.0f s", seconds) : format("%.0f min", seconds / minute);
}

// Counts parts that take about as long as each other.
class Parts {
 public:
  explicit Parts(std::size_t all) : all_(all) {}

  // "3 of 26, 40 s left: ", of the part that begins.
  std::string next() {
    std::string text = std::to_string(begun_ + 1) + " of " + std::to_string(all_);
    if (begun_ > 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
      const double each = spent.count() / static_cast<double>(begun_);
      text += ", " + duration_text(each * static_cast<double>(all_ - begun_)) + " left";
    }
    ++begun_;
    return text + ": ";
  }

 private:
  const std::size_t all_;
  std::size_t begun_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace duogemm::bench
