// One line that says what is going on, rewritten in place; nothing when the output is not a terminal.
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

}  // namespace duogemm::bench
