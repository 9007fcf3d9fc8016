#include "support/standard_output.h"

#include <unistd.h>

#include <cstdio>
#include <map>

#include "system/reject.h"
#include "system/write_file.h"

namespace duogemm::bench {
namespace {

int kept = -1;                               // a file descriptor
std::map<std::string, std::string> results;  // by place

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

void give_result(const std::string& place, std::string text) { results[place] = std::move(text); }

void write_given_results() {
  if (kept >= 0) {
    std::fflush(stdout);
    dup2(kept, STDOUT_FILENO);
  }
  for (const auto& [place, text] : results) {
    if (place == standard_output) {
      std::fputs(text.c_str(), stdout);
    } else {
      write_file(place, text);
    }
  }
}

}  // namespace duogemm::bench
