// Every multiplication ends so: d <- alpha * acc + beta * c, for an element or a vector.
//
// beta * C is rounded once and the fused rest once, so that the bits are the same from every kernel. C is not
// read when beta is zero, so that a NaN there does not spread: -0 stands for beta * C, which changes no sum.
#define UPDATE_FROM(type, d, alpha, acc, beta, c) \
  do {                                            \
    type addend = (type)(-0.0f);                  \
    if ((beta) != 0.0f) {                         \
      addend = (type)(beta) * (c);                \
    }                                             \
    (d) = fma((type)(alpha), (acc), addend);      \
  } while (0)

// The same in place.
#define UPDATE(type, c, alpha, acc, beta) UPDATE_FROM(type, c, alpha, acc, beta, c)
