// How a cluster adds up its parts of k: work-groups with the same tile of C, numbered by their part, have
// each put their sums into local memory, in the same places.

// The sum of CLUSTER parts' `width` values at `place`, added in ascending order of parts.
#define ADD_CLUSTER(width, total, place)                                                     \
  do {                                                                                       \
    FLOAT(width) parts[CLUSTER];                                                             \
    _Pragma("unroll") for (int part = 0; part < CLUSTER; ++part) {                           \
      parts[part] = READ_IN_CLUSTER(width, place, part);                                     \
    }                                                                                        \
    (total) = parts[0];                                                                      \
    _Pragma("unroll") for (int part = 1; part < CLUSTER; ++part) { (total) += parts[part]; } \
  } while (0)
