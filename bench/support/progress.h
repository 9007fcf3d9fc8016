// One line that says what is going on, rewritten in place; nothing when the standard error is no terminal.
#pragma once

#include <string>

namespace duogemm::bench {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(const std::string& what);
  void clear();

 private:
  bool enabled_;
};

// "40 s" or "3 min": how long something takes, about.
std::string duration_text(double seconds);

}  // namespace duogemm::bench
