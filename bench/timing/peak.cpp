#include "timing/peak.h"

#include "rungs/rungs.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr double flops_per_round = 2.0 * 128.0;  // of one work-item
constexpr int rounds = 4096;

}  // namespace

double measure_peak(Device& device, Queue& queue, ProgramCache& programs) {
  const bool cpu = device.info().kind == DeviceKind::cpu;
  const KernelSpec& spec = any_kernel("peak");
  const Tunables tunables = resolve(spec, {{"GROUP", cpu ? 1 : 256}});
  // Many work-groups for each compute unit, so that the last ones to finish do not count.
  const std::size_t work_items = device.info().compute_units * (cpu ? 64 : 256 * 32);
  const auto out = device.allocate(work_items * sizeof(float));
  const Geometry geometry = spec.geometry(static_cast<std::int64_t>(work_items), 1, tunables);
  const auto kernel = programs.get(variant_of(spec, tunables));
  const Contender contender{
      "peak", [&](int repeats) {
        return queue.timed([&] {
          for (int i = 0; i < repeats; ++i) {
            const Argument arguments[] = {std::int32_t{rounds}, 0.999f, 0.001f, out.get()};
            queue.launch(*kernel, geometry, arguments);
          }
        });
      }};
  const MeasureOptions options{.seconds = 0.5};
  const Samples samples = measure({&contender, 1}, options, [](const std::string&) {}).front();
  return flops_per_round * rounds * static_cast<double>(work_items) / samples.median();
}

}  // namespace duogemm::bench
