// Every multiplication ends so: d <- alpha * acc + beta * c, for an element or a vector.
//
// beta * C is rounded once and the fused rest once, so that the bits are the same from every kernel. C is not
// read when beta is zero, so that a NaN there does not spread. A kernel that writes many elements asks once
// for all of them whether beta is zero, and has code for both: in the one, beta is the constant 0.
#define UPDATE_FROM(type, d, alpha, acc, beta, c)          \
  do {                                                     \
    if ((beta) == 0.0f) {                                  \
      (d) = (type)(alpha) * (acc);                         \
    } else {                                               \
      (d) = fma((type)(alpha), (acc), (type)(beta) * (c)); \
    }                                                      \
  } while (0)

// The same in place.
#define UPDATE(type, c, alpha, acc, beta) UPDATE_FROM(type, c, alpha, acc, beta, c)
