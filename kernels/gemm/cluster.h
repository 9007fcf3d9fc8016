// How a cluster adds up its parts of k: work-groups with the same tile of C, numbered by their part, have
// put sums into local memory, where the others read them.

// The sum of `value`, which depends on `part`, over the CLUSTER parts in ascending order.
#define ADD_CLUSTER(width, total, value)                                                     \
  do {                                                                                       \
    FLOAT(width) parts[CLUSTER];                                                             \
    _Pragma("unroll") for (int part = 0; part < CLUSTER; ++part) { parts[part] = (value); }  \
    (total) = parts[0];                                                                      \
    _Pragma("unroll") for (int part = 1; part < CLUSTER; ++part) { (total) += parts[part]; } \
  } while (0)
