// The ladder: which kernels it has, with which settings, and the problems that show whether one is right.
#pragma once

#include <string>
#include <vector>

#include "check/inputs.h"
#include "families/plan.h"
#include "rungs/rungs.h"

namespace duogemm {

struct LadderSetting {
  const KernelSpec* spec = nullptr;
  Tunables tunables = {};  // every one
  Tunables distinct = {};  // those that are not the kernel file's own
  bool planned = false;    // duogemm's own choice: kernel and tunables are known when the problem is planned
  Precision precision = Precision::fp32;  // that the library's kernels and its own choice are permitted
};

// "8"; "duogemm" for its own choice; "" for a kernel that is no rung.
std::string label_of(const LadderSetting& setting);

// Tells whether products are added up in another order than ascending k, so that the bits are others.
bool reorders(const LadderSetting& setting);

// The user of a ladder may choose this.
struct LadderChoice {
  std::vector<std::string> kernels;  // rungs ("1", "nv") or names; empty for all
  Tunables set;                      // for every chosen kernel that has the tunable
  Tunables switches;                 // likewise, but nobody needs to have it
  bool smallest_tiles = false;       // of the settings that this leaves to the library's kernels
};

// The chosen kernels in the order of the ladder. A kernel's variants are included unless `set` applies to it.
// The library's kernels that multiply are there where they are named, and its own choice, as the last,
// where "duogemm" is. Throws invalid_argument for an unknown kernel, a tunable that no chosen kernel has, and
// whatever resolve() refuses.
std::vector<LadderSetting> ladder_settings(const LadderChoice& choice);

// The same of the rungs alone.
std::vector<LadderSetting> rung_settings(const LadderChoice& choice);

// The same for the library's own kernels that compute C; `set` may not have what each problem decides.
std::vector<LadderSetting> library_settings(const LadderChoice& choice);

// One kernel that multiplies, of the ladder (by rung or name) or of the library, with a setting. Throws as
// ladder_settings.
LadderSetting kernel_setting(const std::string& kernel, const Tunables& set, const Tunables& switches);

// duogemm's own choice.
LadderSetting planned_setting();

// The plan that runs one rung of the ladder on a problem of any size: operands that are not as the kernel
// wants them (padded, transposed, packed) are brought into that form around it. Throws invalid_argument when
// a matrix is too large for the rungs' 32-bit indices, and unsupported when only this rung's partial sums
// are, or when the device cannot run the kernel.
Plan plan_ladder(const Rung& rung, const Tunables& tunables, const Problem& problem,
                 const DeviceInfo& device);

// The plan that runs a setting on a problem: plan_ladder for a rung, plan_sgemm for one of the library's, and
// for duogemm's own choice at the level everywhere, unless it is permitted what has no chain's bits.
Plan plan_setting(const LadderSetting& setting, const Problem& problem, const DeviceInfo& device);

// Makes rungs smaller whose work-groups have more work-items or local memory than the device allows. A rung
// gets the largest tile that changing two tunables leads to. What the user or the build chose stays.
void shrink_to(const DeviceInfo& device, const LadderChoice& choice, std::vector<LadderSetting>& settings);

// Throws invalid_argument when `set` made a setting that the device cannot run. (A kernel that cannot run as
// it stands is no mistake of the user's: the ladder reports it as not supported.)
void require_supported(const LadderChoice& choice, const std::vector<LadderSetting>& settings,
                       const DeviceInfo& device);

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;

  double flops() const { return Problem::packed(m, n, k).flops(); }
  bool operator==(const Shape&) const = default;
};

// "m=1 n=2 k=3"
std::string to_text(const Shape& shape);

// The tile that a work-group of the plan's multiplication computes; in K what it has of both operands at
// once, 1 where that is all that it has.
Multiples tile_of(const Plan& plan, const Shape& problem);

// FLOP for each byte that a work-group, which reads each row and column of its tile once, gets from beyond
// it.
double flops_per_byte(const Multiples& tile);

// Bytes of A, B and C.
double bytes_of(const Shape& problem);

// Sizes around the edges of a kernel's tiles: 1, 7, one below, at and above a tile, one above two, primes,
// and skinny both ways.
std::vector<Shape> edge_shapes(const Multiples& multiples);

// One problem for each shape: what a rung of the ladder can be asked.
std::vector<Problem> ladder_problems(const std::vector<Shape>& shapes);

// For each shape, every transpose of a single multiplication and of batches by strides and by offsets, one
// with alpha and beta in device memory, and what is left of these when alpha or k is zero.
std::vector<Problem> library_problems(const std::vector<Shape>& shapes);

// With random data; the number chooses how they are distributed, so that over a list every way occurs.
HostProblem fill(const Problem& problem, std::size_t number);

std::string describe(const Problem& problem);

}  // namespace duogemm
