// A cuBLAS that computes nothing, and notes what it was called with.
#pragma once

#include "netlib/noting_blas.h"

// The calls so far, as noted() writes them.
std::vector<std::string>& calls_of_next_cublas();
