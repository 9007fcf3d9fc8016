#include <algorithm>
#include <bit>
#include <span>

#include "check/judge.h"
#include "families/kernel_source.h"
#include "support/format.h"

namespace duogemm {
namespace {

constexpr const char* probe_text = R"(
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void probe(const int which, const __global float* In, __global float* Out) {
  const float a = In[0], b = In[1], c = In[2];
  if (which == 0) { Out[0] = fma(a, b, c); }
  if (which == 1) { const float4 r = fma((float4)(a), (float4)(b), (float4)(c)); Out[0] = r.w; }
  if (which == 2) { Out[0] = a * b; }
  if (which == 3) { Out[0] = a * b + c; }
  if (which == 4) { Out[0] = fma(a, b, 0.0f); }
}
)";

struct Probe {
  const char* instruction;
  int which;
  float a, b, c;
  float right;
};

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last bit only a fused operation still sees.
constexpr float x = 1.0f + 0x1p-12f;
constexpr float rounded = -(1.0f + 0x1p-11f);
constexpr float tiny = 0x1p-80f;
constexpr std::size_t fused_probes = 2;  // that ask this, the first of all
constexpr Probe probes[] = {
    {"fma (not fused)", 0, x, x, rounded, 0x1p-24f},
    {"fma on vectors (not fused)", 1, x, x, rounded, 0x1p-24f},
    {"fma (a denormal result is flushed)", 0, tiny, 0x1p-60f, 0.0f, 0x1p-140f},
    {"fma (a denormal addend is flushed)", 0, 0.0f, 0.0f, 0x1p-140f, 0x1p-140f},
    {"fma (a denormal factor is flushed)", 0, 0x1p-140f, 0x1p20f, 0.0f, 0x1p-120f},
    {"fma (-0 is lost)", 0, -0.0f, 0.0f, -0.0f, -0.0f},
    {"fma with 0 (a zero of the wrong sign)", 4, 0.0f, -1.0f, 0.0f, 0.0f},
    {"multiplication (a denormal result is flushed)", 2, tiny, 0x1p-60f, 0.0f, 0x1p-140f},
    {"multiplication and addition (contracted to fma)", 3, x, x, rounded, 0.0f},
};

std::shared_ptr<const Kernel> compile_probe(Device& device) {
  return device.compile(
      {"probe", complete_text(std::string("#include \"dialect.h\"\n") + probe_text), {}, false});
}

bool is_right(const Probe& probe, float found) {
  return std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(probe.right);
}

float run(const Probe& probe, const Kernel& kernel, Device& device, Queue& queue) {
  const auto in = device.allocate(3 * sizeof(float));
  const auto out = device.allocate(sizeof(float));
  const float values[] = {probe.a, probe.b, probe.c};
  queue.write(*in, values, sizeof values);
  const Argument arguments[] = {std::int32_t{probe.which}, in.get(), out.get()};
  queue.launch(kernel, {{1, 1, 1}, {1, 1, 1}}, arguments);
  float result = 0.0f;
  queue.read(*out, &result, sizeof result);
  return result;
}

}  // namespace

bool fuses_multiply_add(Device& device, Queue& queue) {
  const auto kernel = compile_probe(device);
  return std::ranges::all_of(std::span(probes).first(fused_probes), [&](const Probe& probe) {
    return is_right(probe, run(probe, *kernel, device, queue));
  });
}

std::string broken_instructions(Device& device, Queue& queue) {
  const auto kernel = compile_probe(device);
  std::string broken;
  for (const Probe& probe : probes) {
    const float found = run(probe, *kernel, device, queue);
    if (!is_right(probe, found)) {
      broken += (broken.empty() ? "" : "; ") + std::string(probe.instruction) +
                bench::format(": %a", static_cast<double>(found)) +
                bench::format(" instead of %a", static_cast<double>(probe.right));
    }
  }
  return broken;
}

}  // namespace duogemm
