// Ours in the guise of a library: called in one of the ways that users have, and timed as the others are.
#pragma once

#include "references/reference.h"
#include "runtime/runtime.h"

namespace duogemm::bench {

enum class Through {
  device,  // buffers on the device and a queue of the caller's, as an application has them
  host,    // plain arrays: Context::sgemm
  blas,    // plain arrays: sgemm_ of libduogemm_blas
};

// "device", "host" or "blas".
const char* name_of(Through through);

// `runtime` and `queue`, which are of the device, must outlive it. Throws unsupported where libduogemm_blas
// is not to be found.
// Problems say by themselves what they may be computed with; of libduogemm_blas all calls have `precision`.
std::unique_ptr<ReferenceLibrary> make_own_library(Through through, Runtime& runtime, Queue& queue,
                                                   Precision precision);

// Ours by its public calls, as a program has them: on plain arrays, where the device is "cuda:0", and on a
// runtime's own handles.
std::unique_ptr<ReferenceLibrary> make_public_calls(const std::string& device);
std::unique_ptr<ReferenceLibrary> make_public_calls(Device& device, Queue& queue);

// Ours on the device, with the same plans, and with the kernels of a folder that holds kernels/ and compat/.
std::unique_ptr<ReferenceLibrary> make_library_of_kernels(const std::string& folder, Device& device,
                                                          Queue& queue);

}  // namespace duogemm::bench
