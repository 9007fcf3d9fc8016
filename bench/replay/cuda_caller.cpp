#include "duogemm/cuda.hpp"
#include "duogemm/version.h"
#include "replay/caller.h"

namespace duogemm::bench {
namespace {

template <typename Element>
Element* pointer(const PreparedPlan::Operands& operands, Operand operand) {
  return reinterpret_cast<Element*>(operands[static_cast<std::size_t>(operand.slot)].buffer->native());
}

class CudaCaller final : public Caller {
 public:
  explicit CudaCaller(CUstream_st* stream) : stream_(stream) {}
  std::string name() const override { return std::string("duogemm ") + DUOGEMM_VERSION; }
  void call(const TraceCall& call, const PreparedPlan::Operands& operands) override {
    const Sgemm request = request_of(call.problem);
    if (call.batch == CallBatch::lists) {
      cuda::sgemm_batched(stream_, request, pointer<const float*>(operands, table_a),
                          pointer<const float*>(operands, table_b), pointer<float*>(operands, table_c));
    } else {
      cuda::sgemm(stream_, request, pointer<const float>(operands, operand_a),
                  pointer<const float>(operands, operand_b), pointer<float>(operands, operand_c));
    }
  }
  void warm() override { cuda::warm(stream_); }

 private:
  CUstream_st* stream_;
};

}  // namespace

std::unique_ptr<Caller> make_cuda_caller(Queue& queue) {
  return std::make_unique<CudaCaller>(reinterpret_cast<CUstream_st*>(queue.native()));
}

}  // namespace duogemm::bench
