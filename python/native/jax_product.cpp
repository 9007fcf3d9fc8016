// What JAX calls: products in XLA's buffers, which are row-major. Leading dimensions are batches; one of
// length 1 is shared.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "duogemm/duogemm.h"
#ifdef DUOGEMM_WITH_CUDA
#include "duogemm/cuda.h"
#endif
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using Matrices = ffi::AnyBuffer;
using Floats = ffi::Buffer<ffi::F32>;
using Result = ffi::ResultBuffer<ffi::F32>;

duogemm_element_type type_of(const Matrices& matrices) {
  switch (matrices.element_type()) {
    case ffi::BF16:
      return DUOGEMM_ELEMENT_BF16;
    case ffi::F16:
      return DUOGEMM_ELEMENT_FP16;
    default:
      return DUOGEMM_ELEMENT_FP32;
  }
}

// Elements between neighbours along each leading dimension of the result; 0 where the operand shares one
// matrix.
std::vector<std::int64_t> batch_strides(ffi::Span<const std::int64_t> dimensions) {
  const std::size_t leading = dimensions.size() - 2;
  std::vector<std::int64_t> strides(leading);
  std::int64_t stride = dimensions[leading] * dimensions[leading + 1];
  for (std::size_t i = leading; i-- > 0;) {
    strides[i] = dimensions[i] == 1 ? 0 : stride;
    stride *= dimensions[i];
  }
  return strides;
}

// A product is asked for this besides its shapes; numbers are as the library has them.
struct Request {
  bool transpose_a;
  bool transpose_b;
  std::int32_t level;
  std::int32_t precision;
};

// What is to be done: `calls` calls of the library, one for each element of the outer dimensions. The
// innermost that can be one are a call's batch.
struct Product {
  duogemm_problem problem;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> a_strides;
  std::vector<std::int64_t> b_strides;
  std::int64_t calls;
};

Product product_of(const Matrices& a, const Matrices& b, const Floats& c, const Request& request) {
  const auto rows = [](const auto& matrices) { return matrices.dimensions().end()[-2]; };
  const auto columns = [](const auto& matrices) { return matrices.dimensions().end()[-1]; };
  const auto dimensions = c.dimensions();
  Product product{DUOGEMM_PROBLEM_INIT,
                  {dimensions.begin(), dimensions.end() - 2},
                  batch_strides(a.dimensions()),
                  batch_strides(b.dimensions()),
                  0};
  auto& [problem, sizes, a_strides, b_strides, calls] = product;
  problem.layout = DUOGEMM_ROW_MAJOR;
  problem.a_op = request.transpose_a ? DUOGEMM_TRANSPOSE : DUOGEMM_NO_TRANSPOSE;
  problem.b_op = request.transpose_b ? DUOGEMM_TRANSPOSE : DUOGEMM_NO_TRANSPOSE;
  problem.m = rows(c);
  problem.n = columns(c);
  problem.k = request.transpose_a ? rows(a) : columns(a);
  problem.lda = std::max<std::int64_t>(columns(a), 1);
  problem.ldb = std::max<std::int64_t>(columns(b), 1);
  problem.ldc = std::max<std::int64_t>(columns(c), 1);
  problem.c_stride = problem.m * problem.n;
  problem.level = static_cast<duogemm_reproducibility>(request.level);
  problem.precision = static_cast<duogemm_precision>(request.precision);
  problem.a_type = type_of(a);
  problem.b_type = type_of(b);
  if (c.element_count() == 0) {
    return product;
  }
  while (!sizes.empty()) {
    if (sizes.back() != 1 && problem.batch == 1) {
      problem.a_stride = a_strides.back();
      problem.b_stride = b_strides.back();
    } else if (sizes.back() != 1 && (a_strides.back() != problem.a_stride * problem.batch ||
                                     b_strides.back() != problem.b_stride * problem.batch)) {
      break;
    }
    problem.batch *= sizes.back();
    sizes.pop_back();
    a_strides.pop_back();
    b_strides.pop_back();
  }
  calls = static_cast<std::int64_t>(c.element_count()) / (problem.c_stride * problem.batch);
  return product;
}

ffi::Error error_of(duogemm_status status) {
  if (status == DUOGEMM_SUCCESS) {
    return ffi::Error::Success();
  }
  return ffi::Error(
      status == DUOGEMM_INVALID_ARGUMENT ? ffi::ErrorCode::kInvalidArgument : ffi::ErrorCode::kInternal,
      std::string("duogemm: ") + duogemm_last_error());
}

const void* element(const Matrices& matrices, std::int64_t offset) {
  const auto bytes = static_cast<std::int64_t>(ffi::ByteWidth(matrices.element_type()));
  return static_cast<const char*>(matrices.untyped_data()) + offset * bytes;
}

// `call` is given the three addresses of each call.
template <typename Call>
ffi::Error multiply(const Product& product, const Matrices& a, const Matrices& b, const Floats& c,
                    const Call& call) {
  for (std::int64_t i = 0; i < product.calls; ++i) {
    std::int64_t a_offset = 0;
    std::int64_t b_offset = 0;
    std::int64_t rest = i;
    for (std::size_t d = product.sizes.size(); d-- > 0; rest /= product.sizes[d]) {
      a_offset += rest % product.sizes[d] * product.a_strides[d];
      b_offset += rest % product.sizes[d] * product.b_strides[d];
    }
    const std::int64_t c_offset = i * product.problem.batch * product.problem.c_stride;
    const duogemm_status status = call(element(a, a_offset), element(b, b_offset), c.typed_data() + c_offset);
    if (status != DUOGEMM_SUCCESS) {
      return error_of(status);
    }
  }
  return ffi::Error::Success();
}

ffi::Error host_product(Matrices a, Matrices b, Result c, bool transpose_a, bool transpose_b,
                        std::int32_t level, std::int32_t precision) {
  const Product product = product_of(a, b, *c, {transpose_a, transpose_b, level, precision});
  return multiply(product, a, b, *c,
                  [&](auto... addresses) { return duogemm_sgemm(&product.problem, addresses...); });
}

#ifdef DUOGEMM_WITH_CUDA
// In workspace of XLA's, which knows best what memory there is. XLA refuses to align it to more than 16
// bytes.
ffi::Error cuda_product(CUstream_st* stream, ffi::ScratchAllocator memory, Matrices a, Matrices b, Result c,
                        bool transpose_a, bool transpose_b, std::int32_t level, std::int32_t precision) {
  constexpr std::size_t alignment = 256;
  const Product product = product_of(a, b, *c, {transpose_a, transpose_b, level, precision});
  std::size_t bytes = 0;
  if (const auto status = duogemm_cuda_sgemm_workspace_bytes(stream, &product.problem, &bytes);
      status != DUOGEMM_SUCCESS) {
    return error_of(status);
  }
  void* workspace = nullptr;
  if (bytes > 0) {
    std::size_t space = bytes + alignment - 16;
    const auto allocated = memory.Allocate(space, 16);
    if (!allocated) {
      return ffi::Error(ffi::ErrorCode::kResourceExhausted,
                        "duogemm: XLA has no " + std::to_string(bytes) + " bytes for workspace");
    }
    workspace = *allocated;
    std::align(alignment, bytes, workspace, space);
  }
  return multiply(product, a, b, *c, [&](auto... addresses) {
    return duogemm_cuda_sgemm_with_workspace(stream, &product.problem, addresses..., workspace, bytes);
  });
}
#endif

// Every handler takes these, after what its runtime adds.
template <typename Binding>
auto with_operands(Binding binding) {
  return std::move(binding)
      .template Arg<Matrices>()
      .template Arg<Matrices>()
      .template Ret<Floats>()
      .template Attr<bool>("transpose_a")
      .template Attr<bool>("transpose_b")
      .template Attr<std::int32_t>("level")
      .template Attr<std::int32_t>("precision");
}

}  // namespace

extern "C" {

XLA_FFI_DEFINE_HANDLER_SYMBOL(duogemm_jax_host, host_product, with_operands(ffi::Ffi::Bind()));

#ifdef DUOGEMM_WITH_CUDA
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    duogemm_jax_cuda, cuda_product,
    with_operands(ffi::Ffi::Bind().Ctx<ffi::PlatformStream<CUstream_st*>>().Ctx<ffi::ScratchAllocator>()));
#endif

}  // extern "C"
