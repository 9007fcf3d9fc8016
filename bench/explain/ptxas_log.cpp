#include "explain/ptxas_log.h"

#include <regex>

namespace duogemm::bench {
namespace {

std::optional<std::size_t> last_number(const std::string& log, const std::regex& pattern) {
  std::optional<std::size_t> number;
  for (std::sregex_iterator match(log.begin(), log.end(), pattern), end; match != end; ++match) {
    number = std::stoul((*match)[1]);
  }
  return number;
}

}  // namespace

PtxasLog parse_ptxas_log(const std::string& log) {
  static const std::regex registers(R"(Used (\d+) registers)");
  static const std::regex stack(R"((\d+) bytes stack frame)");
  static const std::regex spilled(R"((\d+) bytes spill stores)");
  return {last_number(log, registers), last_number(log, stack), last_number(log, spilled)};
}

}  // namespace duogemm::bench
