#include "host_memory/elements.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "problem/element_type.h"
#include "problem/problem.h"

// What the kernels' conversions need of their dialect.
// NOLINTBEGIN(bugprone-reserved-identifier): OpenCL C's own names
#define FUNCTION static inline
#define __global
#define AS_FLOAT(bits) std::bit_cast<float>(bits)
#define AS_UINT(value) std::bit_cast<uint>(value)
// NOLINTEND(bugprone-reserved-identifier)

namespace duogemm {
namespace {

using uint = std::uint32_t;
using ushort = std::uint16_t;

#include "gemm/element.h"

// An operand as the caller has it: matrices of rows x cols, stored by columns.
struct Given {
  ElementType type;
  const void* first;         // the members of a batch are a stride apart,
  const float* const* list;  // or where this says
  std::int64_t rows, cols, ld, stride, count;

  // Of C, which alone is written to, the caller's memory is no constant.
  char* column(std::int64_t member, std::int64_t col) const {
    auto* const matrix = static_cast<char*>(const_cast<void*>(list != nullptr ? list[member] : first));
    const std::int64_t element = (list != nullptr ? 0 : member * stride) + col * ld;
    return matrix + element * static_cast<std::int64_t>(bytes_of(type));
  }
};

// The copy of one: without gaps, member after member.
class InFp32 {
 public:
  explicit InFp32(const Given& given)
      : given_(given),
        size_(given.rows * given.cols),
        memory_(new float[static_cast<std::size_t>(
            count_elements("an operand in FP32", {given.count, given.rows, given.cols}))]) {
    for (std::int64_t member = 0; given.list != nullptr && member < given.count; ++member) {
      list_.push_back(matrix(member));
    }
  }

  float* first() { return memory_.get(); }
  float* const* list() { return list_.empty() ? nullptr : list_.data(); }
  std::int64_t ld() const { return std::max<std::int64_t>(given_.rows, 1); }
  std::int64_t stride() const { return size_; }

  void read() {
    for_each_column([&](const char* from, float* to) {
      for (std::int64_t i = 0; i < given_.rows; ++i) {
        ushort bits;
        std::memcpy(&bits, from + 2 * i, sizeof bits);
        to[i] = float_of_bits(bits, static_cast<int>(given_.type));
      }
    });
  }
  void write() {
    for_each_column([&](char* to, const float* from) {
      for (std::int64_t i = 0; i < given_.rows; ++i) {
        const auto bits = static_cast<ushort>(bits_of_float(from[i], static_cast<int>(given_.type)));
        std::memcpy(to + 2 * i, &bits, sizeof bits);
      }
    });
  }

 private:
  float* matrix(std::int64_t member) const { return memory_.get() + member * size_; }

  template <typename Use>
  void for_each_column(const Use& use) {
    for (std::int64_t member = 0; member < given_.count; ++member) {
      for (std::int64_t col = 0; col < given_.cols; ++col) {
        use(given_.column(member, col), matrix(member) + col * given_.rows);
      }
    }
  }

  Given given_;
  std::int64_t size_;
  std::unique_ptr<float[]> memory_;
  std::vector<float*> list_;
};

std::unique_ptr<InFp32> copy_of(const Given& given, bool is_wanted) {
  try {
    return is_narrow(given.type) && is_wanted ? std::make_unique<InFp32>(given) : nullptr;
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory,
                "host memory is exhausted: operands of 16-bit elements are copied to FP32");
  }
}

// Has the product read or write the copy, if there is one, in place of the caller's matrices.
template <typename First, typename List>
void replace(const std::unique_ptr<InFp32>& copy, First& first, List& list, std::int64_t& ld,
             std::int64_t& stride) {
  if (copy != nullptr) {
    first = copy->first();
    list = copy->list();
    ld = copy->ld();
    stride = stride == 0 ? 0 : copy->stride();
  }
}

}  // namespace

void multiply_narrow(HostCall& call, const Problem& problem, const HostOperands& operands,
                     const ProgressListener& progress) {
  const Problem& p = problem;
  const bool listed = p.batch_by == BatchBy::addresses;
  const auto count = [&](std::int64_t stride) { return listed || stride != 0 ? p.batch : 1; };
  const auto a = copy_of(
      {p.a_type, operands.a, operands.a_list, p.a_rows(), p.a_cols(), p.lda, p.a_stride, count(p.a_stride)},
      p.multiplies());
  const auto b = copy_of(
      {p.b_type, operands.b, operands.b_list, p.b_rows(), p.b_cols(), p.ldb, p.b_stride, count(p.b_stride)},
      p.multiplies());
  const auto c = copy_of({p.c_type, operands.c, operands.c_list, p.m, p.n, p.ldc, p.c_stride, p.batch}, true);
  Problem wide = problem;
  wide.a_type = wide.b_type = wide.c_type = ElementType::fp32;
  HostOperands own = operands;
  replace(a, own.a, own.a_list, wide.lda, wide.a_stride);
  replace(b, own.b, own.b_list, wide.ldb, wide.b_stride);
  replace(c, own.c, own.c_list, wide.ldc, wide.c_stride);
  for (const auto* read : {&a, &b, &c}) {
    if (*read != nullptr && (read != &c || p.beta != 0.0f)) {
      (*read)->read();
    }
  }
  if (c == nullptr) {
    call.multiply(wide, own, progress);
    return;
  }
  CallProgress last{};  // which is told once the result is rounded
  const ProgressListener until_last = [&](const CallProgress& now) {
    last = now;
    if (now.fraction < 1.0) {
      progress(now);
    }
  };
  call.multiply(wide, own, progress ? until_last : progress);
  c->write();
  if (progress) {
    progress(last);
  }
}

}  // namespace duogemm
