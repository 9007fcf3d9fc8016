// Checks that a kernel computes the right bits on problems that show its mistakes.
#pragma once

#include <memory>

#include "check/judge.h"
#include "plan/tuning.h"
#include "tune/probes.h"

namespace duogemm::bench {

class EdgeCheck {
 public:
  EdgeCheck(const OperandKind& kind, Device& device, Queue& queue, ProgramCache& programs);

  // Says what is wrong; empty when everything is right.
  std::string fault(const KernelSpec& spec, const Tunables& tunables);

 private:
  struct Edge {
    Edge(const Problem& problem, Device& device, Queue& queue);
    HostProblem host;
    Judge judge;
    GuardedOperands operands;
  };
  std::string fault(Edge& edge, const Calibration& setting, std::int64_t splits);

  Device& device_;
  Queue& queue_;
  ProgramCache& programs_;
  std::vector<std::unique_ptr<Edge>> edges_;
};

}  // namespace duogemm::bench
