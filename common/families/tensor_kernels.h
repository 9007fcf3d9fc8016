// The kernels for tensor cores, with what the host must know about them.
#pragma once

#include "families/kernel_spec.h"

namespace duogemm {

// Splits operands into pieces; and multiplies those, by wgmma of compute capability 9.0 or by mma.sync of 8.0
// and newer.
KernelSpec split();
KernelSpec tensor();
KernelSpec tensor_mma();

// The setting of `pipelined` that computes what `tensor` leaves out of a problem whose operands are stored in
// this way (GemmFacts::storage of pipelined).
Tunables patch_for(const Problem& problem);

// How an operand in pieces is laid out (kernels/gemm/tensor/pieces.h): `panels` of rows by `blocks` along k,
// for each of `members`. In elements of four bytes.
struct PiecesLayout {
  std::int64_t panels;
  std::int64_t blocks;
  std::int64_t members;
  std::int64_t images;  // elements of the images; the scales stand behind them
  std::int64_t elements() const;
};

// Of A (m rows) or B (n rows) for a setting of `tensor`. Throws invalid_argument where there are too many
// elements to count.
PiecesLayout pieces_of_a(const Tunables& tensor, const Problem& problem);
PiecesLayout pieces_of_b(const Tunables& tensor, const Problem& problem);

// The setting of `split` whose pieces such a setting of `tensor` takes.
Tunables split_for(const Tunables& tensor);

// The workspace in which so many slices of k of a problem meet: a counter for each tile, and behind them all
// sums. Of one slice, nothing.
struct SlicesLayout {
  std::int64_t counters;
  std::int64_t elements;  // of both
};
SlicesLayout slices_layout(const Tunables& tensor, const Problem& problem, std::int64_t slices);

}  // namespace duogemm
