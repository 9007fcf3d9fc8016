// The scales of the rows of A and B, before they are split into terms (see terms.h): for the level
// batch_invariant, at which no row may matter to another.
//
// A work-group has ROWS neighbouring rows of a panel, and the largest value of each from all k. Neighbouring
// work-items read what stands side by side:
//
//   neighbours along k     a sub-group has a row at a time, and its work-items every 32nd value of it
//   neighbours along rows  a work-item has a row, and every SUB_GROUPS-th value of it; sub-groups meet in
//                          local memory
//
// The first work-groups have operand 0, the others operand 1. Those in the second dimension walk over the
// members of the batch.
//
// device: compute_capability 80, starts_early

#ifndef BF16X6
#define BF16X6 0  // terms are two FP16 or three BF16 numbers: 0 1
#endif
#ifndef TSK
#define TSK 64  // block along k of the terms: 32 64
#endif

#define ASYNC 0
#include "dialect.h"
#include "tensor_cores.h"
#include "gemm/arguments.h"
#include "gemm/common.h"
#include "gemm/element.h"
#include "gemm/tensor/terms.h"
#include "gemm/tensor/source.h"

enum { WORK_ITEMS = 1024, SUB_GROUPS = WORK_ITEMS / 32, ROWS = 32, STRIPS = PANEL / ROWS, RESIDENT = 1 };

// The largest of a row's values, as bits without the sign, of every step-th from the first on.
FUNCTION uint
largest_of(const struct Source* source, const int row, const int first, const int step) {
  uint most = 0;
  if (row < source->rows) {
    const long from = source->first + row * source->row_step;
#pragma unroll 16
    for (int k = first; k < source->depth; k += step) {
      const float value = load_element(source->matrix, from + k * source->k_step, source->type);
      most = max(most, AS_UINT(value) & 0x7fffffffu);
    }
  }
  return most;
}

// Writes the scales of a strip's rows, `to` and those after it. `shared` is local memory, which nobody uses
// before or after.
FUNCTION void
scale_strip(const struct Source* source, __global float* to, const int first_row, LOCAL_PTR uint* shared,
            const int item) {
  const int lane = item % 32;
  const int sub_group = item / 32;
  if (source->k_step == 1) {
#pragma unroll 1
    for (int row = sub_group; row < ROWS; row += SUB_GROUPS) {
      const uint most = SUB_GROUP_MAX(largest_of(source, first_row + row, lane, 32));
      if (lane == 0) {
        to[row] = scale_of(most);
      }
    }
  } else {
    shared[item] = largest_of(source, first_row + lane, sub_group, SUB_GROUPS);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (sub_group == 0) {
      uint most = 0;
#pragma unroll
      for (int i = 0; i < SUB_GROUPS; ++i) {
        most = max(most, shared[i * 32 + lane]);
      }
      to[lane] = scale_of(most);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel __attribute__((work_group(WORK_ITEMS, RESIDENT))) void
row_scales(ARGUMENTS(SplitArguments), const __global float* A, const __global long* a_table,
           __global float* a_terms, const __global float* B, const __global long* b_table,
           __global float* b_terms, const __global int* tiles_at) {
  GRID_DEPENDENCY_WAIT();
  TAKE_ARGUMENTS(SplitArguments);
  __local uint shared[WORK_ITEMS];
  const int item = get_local_id(0);
  const int strips_of_first = (int)p.a.panels * STRIPS;
  const bool is_first = (int)get_group_id(0) < strips_of_first;
  const int strip = (int)get_group_id(0) - (is_first ? 0 : strips_of_first);
  const int panel = strip / STRIPS;
  const int first_row = strip % STRIPS * ROWS;
  const long members = is_first ? p.a.members : p.b.members;
  const long panels = is_first ? p.a.panels : p.b.panels;
  const int terms = (int)(is_first ? p.a.terms : p.b.terms);
  const long blocks = (p.depth + TSK - 1) / TSK;
  __global float* Y = is_first ? a_terms + p.a.y_offset : b_terms + p.b.y_offset;
  for (long member = get_group_id(1); member < members; member += get_num_groups(1)) {
    struct Source source;
    if (is_first) {
      find_panel(&source, A, MEMBER_ELEMENT(A, p.a.x, a_table, member, p.a.type), &p.a, p.depth, panel, 0);
    } else {
      find_panel(&source, B, MEMBER_ELEMENT(B, p.b.x, b_table, member, p.b.type), &p.b, p.depth, panel,
                 group_tiles_at(tiles_at, p.tiles_offset));
    }
    scale_strip(&source, Y + row_scales_position(members, member, panel, panels, blocks, terms) + first_row,
                first_row, shared, item);
  }
}
