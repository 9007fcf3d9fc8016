// The vendor's or the best known library on a device, as a contender of the ladder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor.h"
#include "host_problem.h"

namespace duogemm::bench {

class Reference {
 public:
  virtual ~Reference() = default;
  virtual std::string name() const = 0;  // with the version
  // Seconds that the library takes for `repeats` executions, one after the other.
  virtual double run(int repeats) = 0;
  // C after one more execution.
  virtual std::vector<float> result() = 0;
};

// cuBLAS (true FP32) for a CUDA device, OpenBLAS for an OpenCL CPU device; null for others, or where this
// build lacks the library. `operands` and `host` must outlive it.
std::unique_ptr<Reference> make_reference(Device& device, Queue& queue, const HostProblem& host,
                                          const PreparedPlan::Operands& operands);

}  // namespace duogemm::bench
