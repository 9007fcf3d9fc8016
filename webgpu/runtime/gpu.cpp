#include "runtime/gpu.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace duogemm::webgpu {
namespace {

std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

struct Answer {
  api::Device device = nullptr;
  std::string message = {};
};

void take_answer(api::RequestDeviceStatus status, api::Device device, api::StringView message, void* answer,
                 void*) {
  const bool success = status == api::RequestDeviceStatus::Success;
  *static_cast<Answer*>(answer) = {success ? device : nullptr, text_of(message)};
}

}  // namespace

Gpu::Gpu(api::Adapter adapter)
    : adapter_(adapter), device_(nullptr, wgpu().DeviceRelease), queue_(nullptr, wgpu().QueueRelease) {
  wgpu().AdapterGetLimits(adapter, &limits_);
  std::vector<api::FeatureName> features = {api::FeatureName::TimestampQuery, api::FeatureName::Subgroups};
  std::erase_if(features, [&](api::FeatureName feature) { return !has(feature); });
  api::DeviceDescriptor wanted{};
  wanted.requiredFeatureCount = features.size();
  wanted.requiredFeatures = features.data();
  wanted.requiredLimits = &limits_;
  wanted.deviceLostCallbackInfo = {nullptr, api::CallbackMode::AllowSpontaneous, take_loss, this, nullptr};
  wanted.uncapturedErrorCallbackInfo = {nullptr, take_error, this, nullptr};
  Answer answer;
  wgpu().AdapterRequestDevice(adapter, &wanted,
                              {nullptr, api::CallbackMode::AllowSpontaneous, take_answer, &answer, nullptr});
  if (answer.device == nullptr) {
    throw Error(Status::device_error, "wgpu-native gives no device: " + in_one_line(answer.message));
  }
  device_.reset(answer.device);
  queue_.reset(wgpu().DeviceGetQueue(device()));
}

bool Gpu::has(api::FeatureName feature) const { return wgpu().AdapterHasFeature(adapter_, feature) != 0; }

Owned<api::Buffer> Gpu::create_buffer(std::size_t bytes, api::Flags usage) {
  if (bytes > limits_.maxBufferSize) {
    throw Error(Status::out_of_memory, "a buffer of " + std::to_string(bytes) +
                                           " bytes; WebGPU has at most " +
                                           std::to_string(limits_.maxBufferSize) + " here");
  }
  const api::BufferDescriptor wanted{nullptr, {}, usage, bytes, 0};
  Owned<api::Buffer> buffer(wgpu().DeviceCreateBuffer(device(), &wanted), wgpu().BufferRelease);
  require_no_error();
  return buffer;
}

void Gpu::require_no_error(Status status) {
  if (!loss_.empty()) {
    throw Error(Status::device_error, "the device was lost: " + in_one_line(loss_));
  }
  if (error_.empty()) {
    return;
  }
  const std::string message = std::exchange(error_, {});
  if (std::exchange(lacks_memory_, false)) {
    status = Status::out_of_memory;
  }
  throw Error(status, "wgpu-native: " + (status == Status::build_failed ? message : in_one_line(message)));
}

void Gpu::wait() {
  while (wgpu().DevicePoll(device(), 1, nullptr) == 0 && loss_.empty()) {
  }
  require_no_error();
}

// Later errors follow from the first.
void Gpu::take_error(const api::Device*, api::ErrorType type, api::StringView message, void* gpu, void*) {
  Gpu& self = *static_cast<Gpu*>(gpu);
  if (self.error_.empty()) {
    self.error_ = text_of(message);
    self.lacks_memory_ = type == api::ErrorType::OutOfMemory;
  }
}

// It is also told of a device that is given up.
void Gpu::take_loss(const api::Device*, api::DeviceLostReason reason, api::StringView message, void* gpu,
                    void*) {
  if (reason == api::DeviceLostReason::Unknown) {
    static_cast<Gpu*>(gpu)->loss_ = text_of(message) + " ";
  }
}

}  // namespace duogemm::webgpu
