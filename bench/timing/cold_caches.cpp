#include "timing/cold_caches.h"

#include <algorithm>
#include <vector>

#include "rungs/rungs.h"
#include "runtime/program_cache.h"
#include "timing/measure.h"

namespace duogemm::bench {

ColdCaches::ColdCaches(Device& device, Queue& queue) {
  const std::size_t size = bytes(device.info());
  if (device.info().kind == DeviceKind::cpu) {  // whose caches are the host's: the host writes
    write_other_data_ = [data = std::vector<float>(size / sizeof(float)), value = 0.0f]() mutable {
      std::ranges::fill(data, value += 1.0f);
    };
    return;
  }
  // The device writes as much, or a little less: a matrix of padding alone.
  const std::int32_t rows = 4096;
  const auto cols = static_cast<std::int32_t>(size / sizeof(float) / rows);
  const KernelSpec& spec = any_kernel("pad");
  const Variant& variant = variant_of(spec, resolve(spec, {}));
  const Geometry geometry = spec.geometry(rows, cols, variant.tunables);
  const std::shared_ptr<const Kernel> kernel = ProgramCache(device).get(variant);
  const std::shared_ptr<Buffer> data = device.allocate(size);
  write_other_data_ = [data, kernel, geometry, rows, cols, &queue] {
    const Buffer* const nothing = nullptr;
    const Argument arguments[] = {0, 0, 0, nothing, rows, cols, 0.0f, data.get()};
    queue.launch(*kernel, geometry, arguments);
    queue.finish();
  };
}

std::size_t ColdCaches::sets(std::size_t operands, const DeviceInfo& info) {
  // One more than the repeats: a library may need an execution before those that are timed.
  return std::min<std::size_t>(bytes(info) / operands + 1, usual_most_repeats + 1);
}

// Four times the largest cache. OpenCL does not know a GPU's, hence the least; and memory is for operands.
std::size_t ColdCaches::bytes(const DeviceInfo& info) {
  const std::size_t least = info.kind == DeviceKind::cpu ? std::size_t{64} << 20 : std::size_t{512} << 20;
  const std::size_t share = info.memory_bytes > 0 ? info.memory_bytes / 16 : info.max_allocation_bytes;
  const std::size_t most = std::min(share, info.max_allocation_bytes);
  return std::min(std::max(least, 4 * info.cache_bytes), most);
}

}  // namespace duogemm::bench
