#include "support/build_switches.h"

#include "device/backend.h"
#include "families/kernel_source.h"

namespace duogemm::bench {

std::string build_switches() {
  std::string text = "BACKEND=" + (backends().size() > 1 ? "all" : std::string(backends().front()->name()));
  for (const auto& [name, value] : build_tunables()) {
    text += ", " + std::string(name) + (value != 0 ? "=ON" : "=OFF");
  }
  return text;
}

}  // namespace duogemm::bench
