// A cluster adds up its splits of k. Its work-groups have the same tile of C, and are numbered by their
// part. Each has put its sums into local memory, in vectors that its work-items share out, where the others
// read them. The q-th vector of a work-item is for the (q % cluster)-th work-group to add up.

// Reads from other work-groups that are under way at once.
enum { READS_IN_CLUSTER = 8 };

// Adds up those of a work-item's `count` vectors that are this work-group's, split by split in ascending
// order. PLACE(q) is where the q-th stands in local memory, and DONE(q, total) is what becomes of it. Every
// value is set, even if none is read: NVIDIA's compiler keeps registers all along for one that may be left
// unset.
#define ADD_IN_CLUSTER(width, count, cluster, PLACE, DONE)                    \
  do {                                                                        \
    int next_q = (int)get_group_id(2);                                        \
    int next_part = 0;                                                        \
    int q = next_q;                                                           \
    int part = 0;                                                             \
    FLOAT(width) total = (FLOAT(width))(0.0f);                                \
    while (q < (count)) {                                                     \
      FLOAT(width) values[READS_IN_CLUSTER];                                  \
      _Pragma("unroll") for (int i = 0; i < READS_IN_CLUSTER; ++i) {          \
        values[i] = (FLOAT(width))(0.0f);                                     \
        if (next_q < (count)) {                                               \
          values[i] = READ_IN_CLUSTER(width, PLACE(next_q), (uint)next_part); \
        }                                                                     \
        next_part = next_part + 1 == (cluster) ? 0 : next_part + 1;           \
        next_q += next_part == 0 ? (cluster) : 0;                             \
      }                                                                       \
      _Pragma("unroll") for (int i = 0; i < READS_IN_CLUSTER; ++i) {          \
        total = part == 0 ? values[i] : total + values[i];                    \
        part = part + 1 == (cluster) ? 0 : part + 1;                          \
        if (part == 0 && q < (count)) {                                       \
          DONE(q, total);                                                     \
        }                                                                     \
        q += part == 0 ? (cluster) : 0;                                       \
      }                                                                       \
    }                                                                         \
  } while (0)
