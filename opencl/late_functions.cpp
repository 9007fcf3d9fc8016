// Functions of OpenCL 2 that the system's OpenCL may lack: macOS's and Wine's have those of OpenCL 1.2 alone.
// They are looked for when one is first called; without them, programs use what 1.2 has.
#include "opencl_api.h"
#include "system/shared_library.h"

namespace {

template <typename Function>
Function* find(const char* name) {
  static const duogemm::SharedLibrary library({DUOGEMM_DELAYED_OPENCL});
  Function* function = nullptr;
  library.find(name, function);
  return function;
}

}  // namespace

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* properties,
                                                                cl_int* error) {
  static auto* const found =
      find<decltype(clCreateCommandQueueWithProperties)>("clCreateCommandQueueWithProperties");
  if (found != nullptr) {
    return found(context, device, properties, error);
  }
  cl_command_queue_properties bits = 0;
  for (; properties != nullptr && *properties != 0; properties += 2) {
    bits = properties[0] == CL_QUEUE_PROPERTIES ? properties[1] : bits;
  }
  return clCreateCommandQueue(context, device, bits, error);
}

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                           cl_kernel_sub_group_info info, std::size_t bytes_of_input,
                                           const void* input, std::size_t bytes, void* value,
                                           std::size_t* bytes_of_value) {
  static auto* const found = find<decltype(clGetKernelSubGroupInfo)>("clGetKernelSubGroupInfo");
  return found == nullptr ? CL_INVALID_OPERATION
                          : found(kernel, device, info, bytes_of_input, input, bytes, value, bytes_of_value);
}

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void* value) {
  static auto* const found = find<decltype(clSetKernelArgSVMPointer)>("clSetKernelArgSVMPointer");
  return found == nullptr ? CL_INVALID_OPERATION : found(kernel, index, value);
}
