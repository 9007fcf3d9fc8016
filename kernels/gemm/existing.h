#include "gemm/least.h"

// A column that is there: `column`, or if that is beyond the `end`, one from the beginning.
#define EXISTING(column, end) ((column) < (end) ? (column) : LEAST((column) - (end), (end)-1))
