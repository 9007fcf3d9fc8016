#include "duogemm/opencl.hpp"
#include "duogemm/version.h"
#include "replay/caller.h"

namespace duogemm::bench {
namespace {

cl_mem memory(const PreparedPlan::Operands& operands, Operand operand) {
  return reinterpret_cast<cl_mem>(operands[static_cast<std::size_t>(operand.slot)].buffer->native());
}

class OpenClCaller final : public Caller {
 public:
  explicit OpenClCaller(cl_command_queue queue) : queue_(queue) {}
  std::string name() const override { return std::string("duogemm ") + DUOGEMM_VERSION; }
  void call(const TraceCall& call, const PreparedPlan::Operands& operands) override {
    const Sgemm request = request_of(call.problem);
    const opencl::Matrix a{memory(operands, operand_a)};
    const opencl::Matrix b{memory(operands, operand_b)};
    const opencl::Matrix c{memory(operands, operand_c)};
    if (call.batch == CallBatch::lists) {
      opencl::sgemm_batched(
          queue_, request, a, b, c,
          {memory(operands, table_a), memory(operands, table_b), memory(operands, table_c)});
    } else {
      opencl::sgemm(queue_, request, a, b, c);
    }
  }
  void warm() override { opencl::warm(queue_); }

 private:
  cl_command_queue queue_;
};

}  // namespace

std::unique_ptr<Caller> make_opencl_caller(Queue& queue) {
  return std::make_unique<OpenClCaller>(reinterpret_cast<cl_command_queue>(queue.native()));
}

}  // namespace duogemm::bench
