// What can be chosen for both kernels for skinny results, besides what each has of its own.

#ifndef SKINNY
#define SKINNY 4  // what the skinny side has at most: 1 4
#endif
#ifndef Y_ALONG_K
#define Y_ALONG_K 1  // whether the skinny operand is stored with its k beside each other: 0 1
#endif
