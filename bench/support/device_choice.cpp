#include "support/device_choice.h"

#ifdef DUOGEMM_WITH_WEBGPU
#include "runtime/webgpu_backend.h"
#endif

namespace duogemm::bench {

const Backends& laboratory_backends() {
  static const Backends all = [] {
    Backends those = backends();
#ifdef DUOGEMM_WITH_WEBGPU
    those.push_back(&webgpu_backend());
#endif
    return those;
  }();
  return all;
}

}  // namespace duogemm::bench
