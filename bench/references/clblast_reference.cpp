#include <clblast.h>

#include "opencl_api.h"
#include "references/reference.h"

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

std::array<Place, 3> places(const Operands& operands) {
  const auto place = [&](Operand operand) -> Place {
    const MatrixPlace& found = place_of(operands, operand);
    return {reinterpret_cast<cl_mem>(found.buffer->native()), size(found.offset)};
  };
  return {place(operand_a), place(operand_b), place(operand_c)};
}

cl_command_queue commands_of(const Queue& queue) {
  return reinterpret_cast<cl_command_queue>(queue.native());
}

// temporary: null when CLBlast is to allocate what it needs; a batch gives it no choice.
void multiply_plain(const Problem& p, const Operands& operands, cl_command_queue queue, cl_mem temporary,
                    cl_event* done) {
  const auto [a, b, c] = places(operands);
  if (p.batch == 1) {
    check(clblast::Gemm(clblast::Layout::kColMajor, operation(p.a_op), operation(p.b_op), size(p.m),
                        size(p.n), size(p.k), p.alpha, a.memory, a.offset, size(p.lda), b.memory, b.offset,
                        size(p.ldb), p.beta, c.memory, c.offset, size(p.ldc), &queue, done, temporary),
          "Gemm");
    return;
  }
  check(clblast::GemmStridedBatched(clblast::Layout::kColMajor, operation(p.a_op), operation(p.b_op),
                                    size(p.m), size(p.n), size(p.k), p.alpha, a.memory, a.offset, size(p.lda),
                                    size(p.a_stride), b.memory, b.offset, size(p.ldb), size(p.b_stride),
                                    p.beta, c.memory, c.offset, size(p.ldc), size(p.c_stride), size(p.batch),
                                    &queue, done),
        "GemmStridedBatched");
}

// CLBlast wants the lists of a batch, and its scalars, on the host.
void multiply_listed(const Problem& p, const Operands& operands, cl_command_queue queue) {
  const auto [a, b, c] = places(operands);
  const auto list = [&](std::size_t first, std::int64_t stride) {
    std::vector<std::size_t> offsets;
    for (std::int64_t i = 0; i < p.batch; ++i) {
      offsets.push_back(first + size(i * stride));
    }
    return offsets;
  };
  const std::vector<float> alphas(size(p.batch), p.alpha);
  const std::vector<float> betas(size(p.batch), p.beta);
  check(clblast::GemmBatched(clblast::Layout::kColMajor, operation(p.a_op), operation(p.b_op), size(p.m),
                             size(p.n), size(p.k), alphas.data(), a.memory, list(a.offset, p.a_stride).data(),
                             size(p.lda), b.memory, list(b.offset, p.b_stride).data(), size(p.ldb),
                             betas.data(), c.memory, list(c.offset, p.c_stride).data(), size(p.ldc),
                             size(p.batch), &queue),
        "GemmBatched");
}

cl_ulong end_of(const cl::Event& event) {
  return opencl::translated([&] {
    event.wait();
    return event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
  });
}

class ClBlastReference final : public Reference {
 public:
  // CLBlast would otherwise allocate the temporary memory anew in each execution.
  ClBlastReference(Device& device, Queue& queue, const Problem& p) : Reference(queue), p_(p) {
    if (p.batch > 1) {
      return;
    }
    cl_command_queue commands = commands_of(queue);
    std::size_t bytes = 0;
    check(clblast::GemmTempBufferSize<float>(clblast::Layout::kColMajor, operation(p.a_op), operation(p.b_op),
                                             size(p.m), size(p.n), size(p.k), 0, size(p.lda), 0, size(p.ldb),
                                             0, size(p.ldc), &commands, bytes),
          "GemmTempBufferSize");
    if (bytes > 0) {
      temporary_ = device.allocate(bytes);
    }
  }

  void enqueue(const Operands& operands) override { launch(operands, nullptr); }

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
  void launch(const Operands& operands, cl_event* done) {
    multiply_plain(p_, operands, commands_of(queue()),
                   temporary_ ? reinterpret_cast<cl_mem>(temporary_->native()) : nullptr, done);
  }

  const Problem p_;
  std::unique_ptr<Buffer> temporary_;
};

class ClBlast final : public ReferenceLibrary {
 public:
  explicit ClBlast(const Surroundings& of) : ReferenceLibrary("CLBlast", *of.device, *of.queue) {}
  std::string name() const override {
    return title() + " " + std::to_string(CLBLAST_VERSION_MAJOR) + "." +
           std::to_string(CLBLAST_VERSION_MINOR) + "." + std::to_string(CLBLAST_VERSION_PATCH);
  }
  // Padded copies of the operands, by a little more than they take themselves.
  double workspace_bytes(const Problem& problem) const override {
    constexpr double padding = 1.1;
    return padding * sizeof(float) * static_cast<double>(problem.batch) *
           static_cast<double>(problem.a_elements() + problem.b_elements() + problem.c_elements());
  }
  std::unique_ptr<Reference> prepare(const Problem& problem, const Operands&) override {
    return std::make_unique<ClBlastReference>(device(), queue(), problem);
  }
  void multiply(const Problem& problem, const Operands& operands) override {
    if (problem.batch_by == BatchBy::offsets) {
      multiply_listed(problem, operands, commands_of(queue()));
    } else {
      multiply_plain(problem, operands, commands_of(queue()), nullptr, nullptr);
    }
  }
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_clblast(const std::string&, const Surroundings& of) {
  return std::make_unique<ClBlast>(of);
}

}  // namespace duogemm::bench
