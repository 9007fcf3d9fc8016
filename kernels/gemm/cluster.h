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

// The same where the `group`-th part is this work-item's own four values, which become the sum; `place` may
// depend on `part`.
#define ADD_TO_OWN(own, group, place)                                                         \
  do {                                                                                        \
    float4 parts[CLUSTER];                                                                    \
    _Pragma("unroll") for (int part = 0; part < CLUSTER; ++part) {                            \
      parts[part] = part == (group) ? vload4(0, own) : READ_IN_CLUSTER(4, place, part);       \
    }                                                                                         \
    _Pragma("unroll") for (int part = 1; part < CLUSTER; ++part) { parts[0] += parts[part]; } \
    vstore4(parts[0], 0, own);                                                                \
  } while (0)
