// Several of the library's kernels use these.

// The lesser of two numbers, also where a constant is wanted, such as the length of an array.
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

// `column`, if that is before the `end`, or else another that is: one from the beginning.
#define EXISTING(column, end) ((column) < (end) ? (column) : LEAST((column) - (end), (end)-1))

// Rasterisation: which tile a work-group has, in groups of group_m tiles along M before the next along N, so
// that work-groups that run at once share rows of A and columns of B in the L2 cache. group_m is at most
// tiles_m, so that its product with tiles_n is no more than all tiles, which are below 2^31. Unsigned numbers
// spare instructions: the library's small products take 1 percent longer with signed ones.
FUNCTION void
rasterise(uint* m, uint* n, const uint number, const uint tiles_m, const uint tiles_n, const uint group_m) {
  const uint group = number / (group_m * tiles_n);
  const uint in_group = number % (group_m * tiles_n);
  const uint rows = LEAST(group_m, tiles_m - group * group_m);
  *m = group * group_m + in_group % rows;
  *n = in_group / rows;
}

// A member of a batch begins a stride after the one before, or where a table says. The table
// holds offsets in elements from `layout.offset` on, or, where `base` is null, addresses.
#define MEMBER(base, layout, table, member) \
  ((base) + (layout).offset +               \
   ((table) == 0 ? (member) * (layout).stride : (table)[member] >> ((base) == 0 ? 2 : 0)))

// The tiles of a grouped product; null for another product, whose offset is below 0. The base may be null
// where there are some: the offset is then an address.
FUNCTION const __global GroupTile*
group_tiles_at(const __global int* base, const long offset) {
  return offset < 0 ? 0 : (const __global GroupTile*)(base + offset);
}

// The column of an element, when a matrix of `rows` rows and `size` elements is numbered down its columns.
// Division of 64 bits is long, and most matrices do not need it.
FUNCTION long
column_of_element(const long element, const long rows, const long size) {
  return size <= 0xffffffffL ? (long)((uint)element / (uint)rows) : element / rows;
}

// A work-item's sums before the first product.
FUNCTION void
set_to_zero(float* sums, const int count) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    sums[i] = 0.0f;
  }
}
