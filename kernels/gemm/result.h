// C and D of a member of the batch, and the factors with which a sum goes there.
typedef struct {
  __global float* d;
  long ldd;
  const __global float* c;
  long ldc;
  float alpha;
  float beta;
} Result;

FUNCTION void
find_result(Result* result, const GemmArguments* p, const __global float* C, const __global long* c_table,
            __global float* D, const __global long* d_table, const long member) {
  result->d = MEMBER(D, p->d, d_table, member) + (long)get_group_id(2) * p->split_stride;
  result->ldd = p->d.ld;
  result->c = result->d;
  result->ldc = result->ldd;
  result->alpha = p->alpha;
  result->beta = p->beta;
  if (p->beta != 0.0f) {  // to find C takes time, which a small product has to wait for
    result->c = MEMBER(C, p->c, c_table, member);
    result->ldc = p->c.ld;
  }
}
