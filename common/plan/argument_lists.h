// What the kernels' lists of arguments (kernels/gemm/batch.h and others) become on the host: the values of
// those names, in the lists' order, as in {PRODUCT(POINTER_ARGUMENT, ARGUMENT, ARGUMENT)}.
#pragma once

#define POINTER_ARGUMENT(type, name) name,
#define ARGUMENT(name) name,
