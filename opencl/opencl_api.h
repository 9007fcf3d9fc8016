// The OpenCL C++ bindings, set up as duogemm uses them, and the one place where their errors are translated.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
// Every device of ours has 1.2, but with 120 here the bindings of 2023 leave out a function that they call.
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#include <CL/opencl.hpp>
#include <string>
#include <utility>

#include "duogemm/error.h"
#include "system/stack.h"

namespace duogemm::opencl {

inline Status status_of(cl_int code) {
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return Status::out_of_memory;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_INVALID_BINARY:
      return Status::build_failed;
    default:
      return Status::device_error;
  }
}

// Throws unless `function` has returned success.
inline void check(cl_int returned, const char* function) {
  if (returned != CL_SUCCESS) {
    throw Error(status_of(returned),
                std::string("OpenCL: ") + function + " returned " + std::to_string(returned));
  }
}

// Calls `call` and turns an exception of the bindings into duogemm's, with the name of the failing function.
template <typename Call>
auto translated(Call&& call) -> decltype(call()) {
  try {
    return std::forward<Call>(call)();
  } catch (const cl::Error& error) {
    check(error.err(), error.what());
    throw;
  }
}

// The same where a driver may start its compiler, which PoCL does as soon as it is asked what there is: with
// the stack that a compiler expects, whatever thread calls.
template <typename Call>
auto on_driver_stack(const Call& call) {
  constexpr std::size_t of_compiler = std::size_t{4} << 20;
  return with_stack(of_compiler, [&] { return translated(call); });
}

}  // namespace duogemm::opencl
