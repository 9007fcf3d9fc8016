// What a replay tells: in words, and as the result file that bench/schema/README.md describes.
#pragma once

#include <string>

#include "replay/replay.h"

namespace duogemm::bench {

std::string trace_text(const TraceReport& report, const DeviceInfo& device);
std::string replay_json(const ReplayReport& report);

}  // namespace duogemm::bench
