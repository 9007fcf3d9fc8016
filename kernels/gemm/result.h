// C and D of a member of the batch, and the factors with which a sum goes there.
typedef struct {
  __global float* d;
  long ldd;
  const __global float* c;
  long ldc;
  float alpha;
  float beta;
  bool vectors;  // D can be written, and C be read, in float4
} Result;

FUNCTION void
find_result(Result* result, const GemmArguments* p, const __global float* C, const __global long* c_table,
            __global float* D, const __global long* d_table, const long member) {
  result->d = MEMBER(D, p->d, d_table, member) + (long)get_group_id(2) * p->split_stride;
  result->ldd = p->d.ld;
  result->c = MEMBER(C, p->c, c_table, member);
  result->ldc = p->c.ld;
  result->alpha = p->alpha;
  result->beta = p->beta;
  result->vectors = p->vectors != 0 && (ulong)result->c % 16 == 0;
}
