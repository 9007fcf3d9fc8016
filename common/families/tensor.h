// Operands are split into terms for tensor cores; here is how these lie.
#pragma once

#include "families/kernel_spec.h"
#include "families/plan.h"

namespace duogemm {

// The kernels for split terms that the device can run, the fastest first.
std::vector<const KernelSpec*> tensor_kernels_for(const DeviceInfo& device);

// An operand in split terms (kernels/gemm/tensor/terms.h) has `panels` of rows by `blocks` along k, for each
// of `members`. Elements have four bytes.
struct OperandTerms {
  std::int64_t panels;
  std::int64_t blocks;
  std::int64_t members;
  int terms;          // of a value
  std::int64_t size;  // elements of the terms; the scales of blocks follow them, and then those of rows
  bool by_rows;       // rows have scales
  std::int64_t elements() const;
  std::int64_t row_scales() const;  // where those are
};

// Lay A (m rows) or B (n rows) out for a setting of `tensor`; an operand that was prepared, for all settings
// of the precision. Throws as count_elements() does.
OperandTerms terms_of_a(const Tunables& tensor, const Problem& problem);
OperandTerms terms_of_b(const Tunables& tensor, const Problem& problem);

// The plan that prepares the operand which the problem has prepared: it splits it into operand_prepared_a or
// operand_prepared_b, and has no step where the operand has no elements. The other operand does not matter.
// Throws unsupported where the device has no tensor cores, or terms cannot hold that much of k, and
// out_of_memory as count_elements() does.
Plan plan_preparation(const Problem& problem, const DeviceInfo& device);

// How long that memory is. Throws as plan_preparation() does, but does not know the device.
std::size_t prepared_bytes(const Problem& problem);

// Throws unsupported where the device has no tensor cores that an operand could be prepared for.
void require_tensor_kernels(const DeviceInfo& device);

// The workspace in which splits of k meet has a counter for each tile, and then all sums. One split needs
// none.
struct SplitsLayout {
  std::int64_t counters;
  std::int64_t elements;  // of both
};
SplitsLayout splits_layout(const Tunables& tensor, const Problem& problem, std::int64_t splits);

}  // namespace duogemm
