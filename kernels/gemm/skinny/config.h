// The tunables of both kernels for skinny results; each has more of its own.

#ifndef SKINNY
#define SKINNY 4  // what the skinny side has at most: 1 4
#endif
#ifndef Y_ALONG_K
#define Y_ALONG_K 1  // whether the skinny operand is stored with its k side by side: 0 1
#endif
