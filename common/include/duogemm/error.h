// The one exception type of duogemm, and the statuses it carries.
#pragma once

#include <stdexcept>
#include <string>

namespace duogemm {

// A call on host memory that fails has left C as it was, unless its status is device_error. The numbers are
// those of C's duogemm_status, where 0 is success.
enum class Status {
  invalid_argument = 1,  // the caller asked for something that does not exist or is not allowed
  unsupported,           // the request is valid, but this device, build or process cannot serve it
  out_of_memory,         // device memory is exhausted; the library stays usable
  build_failed,          // a kernel did not compile; the message carries the compiler's log
  device_error,          // the driver reported an error during execution
};

class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace duogemm
