#include "device/assumed_device.h"

#include <cstdlib>

#include "system/reject.h"

namespace duogemm {
namespace {

constexpr const char* variable = "DUOGEMM_ASSUME";
constexpr int least = 80;  // for those before, nothing is scaled (see tuning_of_another)

// "8.9" is 89.
int parse_capability(const std::string& text) {
  const bool has_form = text.size() >= 3 && text.size() <= 4 && text[text.size() - 2] == '.' &&
                        text.find_first_not_of("0123456789.") == std::string::npos &&
                        text.find('.') == text.size() - 2;
  if (!has_form) {
    reject(std::string(variable) + " is \"" + text + "\"; it must be a compute capability such as 8.9");
  }
  const int capability = std::atoi(text.c_str()) * 10 + (text.back() - '0');
  if (capability < least) {
    reject(std::string(variable) + " is " + text + "; it must be at least 8.0");
  }
  return capability;
}

}  // namespace

void assume(DeviceInfo& info) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') {
    return;
  }
  const int capability = parse_capability(text);
  if (!info.is_nvidia() || capability > info.compute_capability ||
      dynamic_local_bytes(capability) > info.dynamic_local_bytes) {
    return;
  }
  info.name = std::string("unknown NVIDIA GPU of compute capability ") + text;
  info.dynamic_local_bytes = dynamic_local_bytes(capability);
  info.unit_items = unit_items(capability);
  info.clusters = info.clusters && capability >= 90;
  info.dependent_launch = info.dependent_launch && capability >= 90;
}

}  // namespace duogemm
