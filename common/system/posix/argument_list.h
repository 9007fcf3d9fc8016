// Words as execvp() and posix_spawn() take them.
#pragma once

#include <string>
#include <vector>

namespace duogemm {

// The words must outlive it.
inline std::vector<char*> argument_list(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) {
    list.push_back(const_cast<char*>(word.c_str()));
  }
  list.push_back(nullptr);
  return list;
}

}  // namespace duogemm
