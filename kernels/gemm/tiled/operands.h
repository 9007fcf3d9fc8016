// The operands of a tile and of a member of the batch.

// Vectors are read of strided batches only.
#define LISTED(table) (V == 4 ? 0 : (table))

FUNCTION void
begin_operands(Operand* a, Operand* b, const GemmArguments* p, const __global float* A,
               const __global long* a_table, const __global float* B, const __global long* b_table,
               const long member, const Tile tile, const long first_k, LOCAL_PTR float* tiles,
               const Place place) {
  const __global float* a_member = MEMBER(A, p->a, LISTED(a_table), member);
  const __global float* b_member = MEMBER(B, p->b, LISTED(b_table), member);
  begin_copies(a, a_member + first_k * (TRANS_A ? 1 : p->a.ld), p->a.ld, tile.m, tiles, place.item, -0.0f,
               TSM, TRANS_A, LANES_M);
  begin_copies(b, b_member + first_k * (TRANS_B ? p->b.ld : 1), p->b.ld, tile.n, tiles + TSK * TSM,
               place.item, 0.0f, TSN, !TRANS_B, LANES_N);
}
