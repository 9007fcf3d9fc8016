// A product whose result is known, for what may not be trusted.
#pragma once

#include <functional>

#include "runtime/executor.h"

namespace duogemm {

// Answers whether `multiply` computes C = A B of this many rows and columns, of small integers, whose product
// is exact in whatever order it is added up. It is given a queue, and where on the device A, B and C are.
bool gives_known_product(std::int64_t size, Device& device,
                         const std::function<void(Queue&, const PreparedPlan::Operands&)>& multiply);

}  // namespace duogemm
