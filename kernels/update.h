// How every multiplication ends: C <- alpha * acc + beta * C, for an element or a vector of C.
//
// beta * C is rounded once and the fused rest once, so that the bits are the same from every kernel. C is not
// read when beta is zero, so that a NaN there does not spread.
#define UPDATE(type, c, alpha, acc, beta)                  \
  do {                                                     \
    if ((beta) == 0.0f) {                                  \
      (c) = (type)(alpha) * (acc);                         \
    } else {                                               \
      (c) = fma((type)(alpha), (acc), (type)(beta) * (c)); \
    }                                                      \
  } while (0)
