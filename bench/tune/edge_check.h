// Whether a kernel computes the right bits on problems that show its mistakes.
#pragma once

#include <map>
#include <memory>

#include "check/judge.h"
#include "timing/probes.h"

namespace duogemm::bench {

class EdgeCheck {
 public:
  EdgeCheck(const OperandKind& kind, Device& device, Queue& queue, ProgramCache& programs);

  // What is wrong; empty when everything is right.
  std::string fault(const KernelSpec& spec, const Tunables& tunables);

 private:
  struct Case {
    Case(const Problem& problem, Device& device, Queue& queue);
    HostProblem host;
    Judge judge;
    GuardedOperands operands;
  };
  std::string fault(Case& edge, const KernelSpec& spec, const Tunables& tunables, std::int64_t parts);

  Device& device_;
  Queue& queue_;
  ProgramCache& programs_;
  std::vector<std::unique_ptr<Case>> cases_;
};

}  // namespace duogemm::bench
