// Measures how fast the device can read: each work-item adds up `rounds` vectors of In, `shift` apart,
// beginning `start` after where its neighbour begins. In has `vectors` of them, more than `shift`, and is
// gone around. The sum is stored so that the work cannot be left out.

#ifndef GROUP
#define GROUP 256  // work-items per work-group: 1 64 128 256
#endif
#ifndef WIDTH
#define WIDTH 4  // values in a vector: 4 8 16
#endif

#include "dialect.h"

#define floatX FLOAT(WIDTH)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
bandwidth(const int vectors, const int rounds, const int start, const int shift, const __global floatX* In,
          __global float* Out) {
  floatX sum = (floatX)(0.0f);
  int place = (int)(get_global_id(0) * (long)start % vectors);
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
    sum = sum + In[place];
    place += shift;
    place -= place >= vectors ? vectors : 0;
  }
  float values[WIDTH];
  VSTORE(WIDTH)(sum, 0, values);
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i) {
    total += values[i];
  }
  Out[get_global_id(0)] = total;
}
