// Shaders for check_wgpu.py: of each rung the page's own setting and others drawn at random, as JSON.
//
//   webgpu_shaders SETTINGS SEED
#include <cstdio>
#include <cstdlib>
#include <random>

#include "page/ladder_page.h"
#include "page/settings.h"

namespace duogemm::bench {
namespace {

Tunables draw(const Rung& rung, std::mt19937& random) {
  for (;;) {
    Tunables drawn;
    for (const TunableDeclaration& tunable : load_kernel(rung.path).tunables) {
      drawn[tunable.name] = tunable.allowed[random() % tunable.allowed.size()];
    }
    // The shaders of a browser on this machine have no sub-groups.
    if (value_or(drawn, "USE_SHUFFLE", 0) == 0 && fits_browser(rung, drawn, more_local_bytes)) {
      return drawn;
    }
  }
}

Json shaders(int settings, std::mt19937& random) {
  Json list = Json::array();
  for (const Rung& rung : rungs()) {
    if (rung.bf16_products > 0) {
      continue;
    }
    Json variants = {shader_json(rung, browser_settings(rung).front())};
    for (int i = 0; i < settings; ++i) {
      variants.push_back(shader_json(rung, draw(rung, random)));
    }
    list.push_back({{"rung", rung.label},
                    {"row_major", rung.row_major},
                    {"transposed_b", rung.transposed_b},
                    {"stores_any_size", rung.stores_any_size},
                    {"variants", variants}});
  }
  return {{"rungs", list}, {"supporting", supporting_shaders()}};
}

}  // namespace
}  // namespace duogemm::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: webgpu_shaders SETTINGS SEED\n", stderr);
    return 2;
  }
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
  std::puts(duogemm::bench::shaders(std::atoi(argv[1]), random).dump().c_str());
}
