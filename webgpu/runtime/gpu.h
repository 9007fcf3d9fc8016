// A device of wgpu-native with its only queue, and the errors that it reports.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "duogemm/error.h"
#include "runtime/wgpu_library.h"

namespace duogemm::webgpu {

inline const api::Functions& wgpu() { return wgpu_library().functions; }

template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, void (*)(Handle)>;

inline api::StringView view(const std::string& text) { return {text.data(), text.size()}; }
inline std::string text_of(const api::StringView& view) {
  return view.data == nullptr ? std::string() : std::string(view.data, view.length);
}

class Gpu {
 public:
  // With all that the adapter allows. Throws device_error.
  explicit Gpu(api::Adapter adapter);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  api::Device device() const { return device_.get(); }
  api::Queue queue() const { return queue_.get(); }
  const api::Limits& limits() const { return limits_; }
  bool has(api::FeatureName feature) const;

  // Throws out_of_memory.
  Owned<api::Buffer> create_buffer(std::size_t bytes, api::Flags usage);
  // Throws what the device has reported since it was last asked; other errors than a lack of memory have the
  // status. Those of a compiler have many lines.
  void require_no_error(Status status = Status::device_error);
  // Waits for all that was submitted.
  void wait();

 private:
  static void take_error(const api::Device*, api::ErrorType type, api::StringView message, void* gpu, void*);
  static void take_loss(const api::Device*, api::DeviceLostReason reason, api::StringView message, void* gpu,
                        void*);

  const api::Adapter adapter_;
  api::Limits limits_{};
  Owned<api::Device> device_;
  Owned<api::Queue> queue_;
  std::string error_;  // the first
  bool lacks_memory_ = false;
  std::string loss_;  // of the device, which does nothing any more
};

}  // namespace duogemm::webgpu
