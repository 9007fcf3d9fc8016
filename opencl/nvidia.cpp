#include "nvidia.h"

#include <string_view>
#include <utility>

namespace duogemm::opencl {
namespace {

// Says how many work-groups shall be on a multiprocessor at once (.minnctapersm of "Performance-Tuning
// Directives" in the PTX ISA). Without that the compiler spends few registers, and even spills, to have many
// work-groups: of 268 settings that were timed on an H200 both ways, half gain 1 percent and a tenth gain 13.
// The program is assembled twice for it, when it is compiled; the disk cache keeps the second.
std::string with_residents(std::string ptx, int residents) {
  const std::size_t size = ptx.find("\n.reqntid ");
  if (size != std::string::npos) {
    ptx.insert(ptx.find('\n', size + 1), "\n.minnctapersm " + std::to_string(residents));
  }
  return ptx;
}

// Uncomments what NVIDIA's OpenCL compiler would have refused, because it compiles for sm_90, and names the
// target that has it (see compat/warpgroups.h). The driver assembles PTX for either.
std::string with_own_capability(std::string ptx) {
  constexpr std::string_view comment = "//90a ";
  constexpr std::string_view target = ".target sm_90";
  for (std::size_t at = ptx.find(comment); at != std::string::npos; at = ptx.find(comment, at)) {
    ptx.erase(at, comment.size());
  }
  if (const std::size_t at = ptx.find(target); at != std::string::npos) {
    ptx.insert(at + target.size(), 1, 'a');
  }
  return ptx;
}

}  // namespace

std::string with_more_than_opencl_says(const std::string& ptx, const ProgramSource& source) {
  std::string better = source.one_capability ? with_own_capability(ptx) : ptx;
  for (const auto& [name, value] : source.defines) {
    if (name == "RESIDENT" && value > 0) {  // see compat/dialect.h
      better = with_residents(std::move(better), value);
    }
  }
  return better;
}

}  // namespace duogemm::opencl
