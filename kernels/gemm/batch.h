// Where the matrices of one member of a batch begin.
//
// BATCH 0: a stride apart. BATCH 1: a table holds the offset of each, in elements from `offset` on. BATCH 2:
// a table holds the address of each, and the buffer itself is the null address.
#if BATCH == 0
#define MEMBER(base, offset, stride, table, member) ((base) + (offset) + (member) * (stride))
#elif BATCH == 1
#define MEMBER(base, offset, stride, table, member) ((base) + (offset) + (table)[member])
#else
#define MEMBER(base, offset, stride, table, member) \
  ((base) + (offset) + (table)[member] / (long)sizeof(float))
#endif
