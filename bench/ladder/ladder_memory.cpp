#include "ladder/ladder_memory.h"

#include <algorithm>

#include "check/guarded_operands.h"
#include "machine/host_memory.h"
#include "machine/memory_need.h"
#include "references/reference.h"
#include "timing/cold_caches.h"

namespace duogemm::bench {
namespace {

// Those of all settings are there at once.
void add_workspaces(const LadderRequest& request, const Problem& problem, const DeviceInfo& info,
                    MemoryNeed& need) {
  for (const LadderSetting& setting : request.settings) {
    try {
      need.add_workspaces(plan_setting(setting, problem, info));
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) {
        throw;
      }
    }
  }
}

// What one device's session has, the problem and its oracle included.
MemoryNeed session_need(const LadderRequest& request, const Problem& problem, const DeviceInfo& info) {
  const std::size_t set_bytes = operand_bytes(problem, 1, info).total;
  const std::size_t count = request.cold ? ColdCaches::sets(set_bytes, info) : 1;
  const OperandBytes sets = operand_bytes(problem, count, info);
  MemoryNeed need = judged_need(problem);
  add_workspaces(request, problem, info, need);
  need.device += static_cast<double>(sets.total - set_bytes);  // the first is what is judged
  need.largest = std::max(need.largest, static_cast<double>(sets.largest));
  if (request.cold) {
    need.add_buffer(static_cast<double>(ColdCaches::bytes(info)));
  }
  if (request.abilities) {
    need.add_buffer(static_cast<double>(bandwidth_bytes(info)));
  }
  if (main_library_works_on_host(info)) {  // with operands of its own
    need.host += static_cast<double>(sets.total);
  }
  return need;
}

}  // namespace

std::optional<std::string> lacking_ladder_memory(const LadderRequest& request, const Shape& shape) {
  const Problem problem = Problem::packed(shape.m, shape.n, shape.k);
  MemoryNeed need;
  DeviceInfo info;
  for (const ChosenDevice& chosen : request.devices) {
    info = chosen.info();
    need += session_need(request, problem, info);
  }
  return lacking_memory(need, info, available_host_memory());
}

void require_ladder_memory(const LadderRequest& request, const Shape& shape) {
  if (const auto reason = lacking_ladder_memory(request, shape)) {
    throw Error(Status::out_of_memory, to_text(shape) + " " + *reason);
  }
}

}  // namespace duogemm::bench
