// What `pipelined` is given behind its own arguments with BIAS: a column that takes the place of every column
// of C where beta times C is added. The members of a batch have theirs bias_stride apart.
#define BIASED(POINTER, LONG)         \
  POINTER(const __global float, bias) \
  LONG(bias_offset)                   \
  LONG(bias_stride)
