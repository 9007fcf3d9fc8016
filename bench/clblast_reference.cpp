#include <clblast.h>

#include "library_references.h"
#include "opencl_api.h"

namespace duogemm::bench {
namespace {

// The codes are in clblast.h, and OpenCL's own in CL/cl.h.
void check(clblast::StatusCode status, const char* call) {
  if (status != clblast::StatusCode::kSuccess) {
    throw Error(Status::device_error,
                std::string("CLBlast: ") + call + " returned " + std::to_string(static_cast<int>(status)));
  }
}

clblast::Transpose operation(Transpose op) {
  return op == Transpose::no ? clblast::Transpose::kNo : clblast::Transpose::kYes;
}

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

struct Place {
  cl_mem memory;
  std::size_t offset;
};

Place place(const PreparedPlan::Operands& operands, Operand operand) {
  const MatrixPlace& found = operands[static_cast<std::size_t>(operand.slot)];
  return {reinterpret_cast<cl_mem>(found.buffer->native()), size(found.offset)};
}

cl_ulong end_of(const cl::Event& event) {
  return opencl::translated([&] {
    event.wait();
    return event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
  });
}

class ClBlastReference final : public Reference {
 public:
  ClBlastReference(Device& device, Queue& queue, const Problem& problem) : Reference(queue), p_(problem) {
    if (const std::size_t bytes = temporary_bytes(); bytes > 0) {
      temporary_ = device.allocate(bytes);
    }
  }

  void enqueue(const PreparedPlan::Operands& operands) override { launch(operands, nullptr); }

  // CLBlast tells when the last kernel of an execution ends, but not when the first begins: the time is from
  // the end of one execution more, before the others, to the end of the last.
  double timed(int repeats, const Turn& turn) override {
    queue().finish();
    cl::Event first;
    launch(turn(0), &first());
    cl::Event last;
    for (int i = 1; i < repeats; ++i) {
      launch(turn(i), nullptr);
    }
    launch(turn(repeats), &last());
    return 1e-9 * static_cast<double>(end_of(last) - end_of(first));
  }

 private:
  void launch(const PreparedPlan::Operands& operands, cl_event* done) {
    p_.batch == 1 ? multiply(operands, done) : multiply_batch(operands, done);
  }

  void multiply(const PreparedPlan::Operands& operands, cl_event* done) {
    const auto [a, b, c] = places(operands);
    cl_command_queue commands = this->commands();
    check(clblast::Gemm(clblast::Layout::kColMajor, operation(p_.a_op), operation(p_.b_op), size(p_.m),
                        size(p_.n), size(p_.k), p_.alpha, a.memory, a.offset, size(p_.lda), b.memory,
                        b.offset, size(p_.ldb), p_.beta, c.memory, c.offset, size(p_.ldc), &commands, done,
                        temporary_ == nullptr ? nullptr : reinterpret_cast<cl_mem>(temporary_->native())),
          "Gemm");
  }

  void multiply_batch(const PreparedPlan::Operands& operands, cl_event* done) {
    const auto [a, b, c] = places(operands);
    cl_command_queue commands = this->commands();
    check(clblast::GemmStridedBatched(clblast::Layout::kColMajor, operation(p_.a_op), operation(p_.b_op),
                                      size(p_.m), size(p_.n), size(p_.k), p_.alpha, a.memory, a.offset,
                                      size(p_.lda), size(p_.a_stride), b.memory, b.offset, size(p_.ldb),
                                      size(p_.b_stride), p_.beta, c.memory, c.offset, size(p_.ldc),
                                      size(p_.c_stride), size(p_.batch), &commands, done),
          "GemmStridedBatched");
  }

  // What CLBlast would otherwise allocate anew in each execution; a batch gives it no choice.
  std::size_t temporary_bytes() {
    std::size_t bytes = 0;
    if (p_.batch == 1) {
      cl_command_queue commands = this->commands();
      check(clblast::GemmTempBufferSize<float>(
                clblast::Layout::kColMajor, operation(p_.a_op), operation(p_.b_op), size(p_.m), size(p_.n),
                size(p_.k), 0, size(p_.lda), 0, size(p_.ldb), 0, size(p_.ldc), &commands, bytes),
            "GemmTempBufferSize");
    }
    return bytes;
  }

  static std::array<Place, 3> places(const PreparedPlan::Operands& operands) {
    return {place(operands, operand_a), place(operands, operand_b), place(operands, operand_c)};
  }
  cl_command_queue commands() { return reinterpret_cast<cl_command_queue>(queue().native()); }

  const Problem p_;
  std::unique_ptr<Buffer> temporary_;
};

class ClBlast final : public ReferenceLibrary {
 public:
  ClBlast(Device& device, Queue& queue) : device_(device), queue_(queue) {}
  std::string title() const override { return "CLBlast"; }
  std::string name() const override {
    return title() + " " + std::to_string(CLBLAST_VERSION_MAJOR) + "." +
           std::to_string(CLBLAST_VERSION_MINOR) + "." + std::to_string(CLBLAST_VERSION_PATCH);
  }
  Device& device() override { return device_; }
  Queue& queue() override { return queue_; }
  std::unique_ptr<Reference> prepare(const Problem& problem, const PreparedPlan::Operands&) override {
    return std::make_unique<ClBlastReference>(device_, queue_, problem);
  }

 private:
  Device& device_;
  Queue& queue_;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_clblast(Device& device, Queue& queue) {
  return std::make_unique<ClBlast>(device, queue);
}

}  // namespace duogemm::bench
