#include <cblas.h>

#include <chrono>
#include <thread>

#include "machine/host_device.h"
#include "references/library_references.h"

namespace duogemm::bench {
namespace {

CBLAS_TRANSPOSE operation(Transpose op) { return op == Transpose::no ? CblasNoTrans : CblasTrans; }

// OpenBLAS's threads look out for more work for 2^26 clock ticks before they sleep (its THREAD_TIMEOUT), and
// would take the cores from whoever is timed next.
constexpr std::chrono::milliseconds until_threads_sleep{40};

blasint blas_int(std::int64_t value) { return static_cast<blasint>(value); }

float* pointer(const PreparedPlan::Operands& operands, Operand operand) {
  const MatrixPlace& place = operands[static_cast<std::size_t>(operand.slot)];
  return reinterpret_cast<float*>(place.buffer->native()) + place.offset;
}

// The members of a batch one after the other: not every release has a call for all of them.
void multiply_members(const Problem& p, const PreparedPlan::Operands& operands) {
  for (std::int64_t i = 0; i < p.batch; ++i) {
    cblas_sgemm(CblasColMajor, operation(p.a_op), operation(p.b_op), blas_int(p.m), blas_int(p.n),
                blas_int(p.k), p.alpha, pointer(operands, operand_a) + i * p.a_stride, blas_int(p.lda),
                pointer(operands, operand_b) + i * p.b_stride, blas_int(p.ldb), p.beta,
                pointer(operands, operand_c) + i * p.c_stride, blas_int(p.ldc));
  }
}

class OpenBlasReference final : public Reference {
 public:
  OpenBlasReference(Queue& queue, const Problem& problem) : Reference(queue), problem_(problem) {}

  void enqueue(const PreparedPlan::Operands& operands) override { multiply_members(problem_, operands); }

  double timed(int repeats, const Turn& turn) override {
    const double seconds = Reference::timed(repeats, turn);
    std::this_thread::sleep_for(until_threads_sleep);
    return seconds;
  }

 private:
  const Problem problem_;
};

// Works in the host's memory, on the calling process's own threads.
class OpenBlas final : public ReferenceLibrary {
 public:
  explicit OpenBlas(std::size_t threads) : host_(open_host()), queue_(host_->create_queue()) {
    openblas_set_num_threads(static_cast<int>(threads));
  }

  std::string title() const override { return "OpenBLAS"; }
  std::string name() const override {
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": the first two words are enough.
    const std::string configuration = openblas_get_config();
    const std::size_t second = configuration.find(' ', configuration.find(' ') + 1);
    return configuration.substr(0, second) + " (" + openblas_get_corename() + ", " +
           std::to_string(openblas_get_num_threads()) + " threads)";
  }
  Device& device() override { return *host_; }
  Queue& queue() override { return *queue_; }
  std::unique_ptr<Reference> prepare(const Problem& problem, const PreparedPlan::Operands&) override {
    return std::make_unique<OpenBlasReference>(*queue_, problem);
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    multiply_members(problem, operands);
  }

 private:
  std::unique_ptr<Device> host_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_openblas(std::size_t threads) {
  return std::make_unique<OpenBlas>(threads);
}

}  // namespace duogemm::bench
