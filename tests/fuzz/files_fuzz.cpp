// A libFuzzer target: the text of a file that is read, a tuning file or a trace. It is refused with a reason
// in one line, or what it says is of use: the planner of a GPU plans by it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "devices.h"
#include "plan/lower.h"
#include "replay/trace.h"

namespace duogemm::fuzz {
namespace {

// Plans the shapes that the file knows, and one that it may not.
void plan_by(const Tuning& tuning) {
  static const DeviceInfo device = testing::large_gpu(true);
  const Planner planner(device, tuning);
  const auto plan = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    try {
      const Problem problem = Problem::packed(m, n, k);
      validate(problem);
      lay_out_workspaces(lower(planner.select(problem), problem, device), device);
    } catch (const Error&) {
      // It is larger than any memory.
    }
  };
  plan(100, 70, 640);
  for (const TunedShape& shape : tuning.shapes) {
    plan(shape.m, shape.n, shape.k);
  }
}

void read(std::uint8_t kind, const std::string& text) {
  if (kind == 't') {
    plan_by(parse_tuning(text, "file"));
  } else {
    bench::parse_trace(text, "file");
  }
}

}  // namespace
}  // namespace duogemm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  try {
    duogemm::fuzz::read(data[0], std::string(data + 1, data + size));
  } catch (const duogemm::Error& error) {
    if (error.status() != duogemm::Status::invalid_argument || *error.what() == '\0') {
      std::fprintf(stderr, "refused with another status, or without a reason: %s\n", error.what());
      std::abort();
    }
  }
  return 0;
}
