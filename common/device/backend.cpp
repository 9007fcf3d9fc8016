#include "device/backend.h"

namespace duogemm {
namespace {

class OrdinaryMemory final : public Staging {
 public:
  explicit OrdinaryMemory(std::size_t bytes) : bytes_(std::make_unique<std::byte[]>(bytes)) {}
  std::byte* data() override { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace

std::unique_ptr<Staging> Device::allocate_staging(std::size_t bytes) {
  return std::make_unique<OrdinaryMemory>(bytes);
}

}  // namespace duogemm
