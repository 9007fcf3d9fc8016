// The results of a batch must keep out of each other's way.
#pragma once

#include <cstdint>

namespace duogemm {

// Tells whether two members of a batch have an element in common: matrices of that many rows and columns,
// `ld` elements from column to column, a `stride` from one to the next, at least 1 where there are two. They
// may stand one after the other, side by side within `ld`, or interleaved in any other way. All of it lies
// within 2^60 elements.
bool members_overlap(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                     std::int64_t batch);

}  // namespace duogemm
