// All that a kernel can be compiled for.
#pragma once

#include "families/kernel_source.h"
#include "families/kernel_spec.h"

namespace duogemm {

// Every setting that the declared ranges and the rules allow.
inline std::vector<Tunables> legal_settings(const KernelSpec& spec) {
  std::vector<Tunables> settings(1);
  for (const TunableDeclaration& tunable : load_kernel(spec.path).tunables) {
    std::vector<Tunables> extended;
    for (const Tunables& setting : settings) {
      for (int value : tunable.allowed) {
        extended.push_back(setting);
        extended.back()[tunable.name] = value;
      }
    }
    settings = std::move(extended);
  }
  std::erase_if(settings, [&](const Tunables& setting) { return !keeps_rules(spec, setting); });
  return settings;
}

}  // namespace duogemm
