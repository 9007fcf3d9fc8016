// The programs of the steps before and after a multiplication.
#pragma once

#include <cstdint>
#include <vector>

#include "families/kernel_spec.h"

namespace duogemm {

// A kernel that no problem's storage fixes anything of, with these tunables. Throws as resolve() does.
const Variant& program(std::string_view kernel, const Tunables& set = {});

// Copies operands to where they can be read in vectors: one that is stored transposed or not, and another.
const Variant& pack_program(bool transposed_0, bool transposed_1);
// Rows and columns of an operand are copied in multiples of this.
std::int64_t pack_tile();

// Adds up that many splits of k for that many elements.
const Variant& reduce_program(std::int64_t elements, std::int64_t splits);

// All of both kinds.
std::vector<const Variant*> packs_and_reductions();

// Makes of C what a problem asks beyond the sum; of a problem without products, beta C.
const Variant& finish_program();

}  // namespace duogemm
