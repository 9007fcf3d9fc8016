#include "support/standard_output.h"

#include <unistd.h>

#include <cstdio>

#include "system/reject.h"

namespace duogemm::bench {
namespace {

int kept = -1;  // a file descriptor
std::string result;

}  // namespace

void keep_standard_output(const std::string& option) {
  if (kept >= 0) {
    reject(option + " -: another result goes to the standard output already; name a file for one of them");
  }
  std::fflush(stdout);
  kept = dup(STDOUT_FILENO);
  if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    reject(option + " -: there is no standard output");
  }
}

void give_result(std::string text) { result = std::move(text); }

void print_result() {
  if (kept < 0) {
    return;
  }
  std::fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  std::fputs(result.c_str(), stdout);
}

}  // namespace duogemm::bench
