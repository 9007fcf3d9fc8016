// The kernel dialect as C++ for the host: the kernel files' text runs here as a GPU would run it, work-item
// by work-item. As much of compat/dialect.h as the kernels for tensor cores and the fix-up after them need;
// tests include it in its place.
#ifndef DUOGEMM_EMULATION_DIALECT_H
#define DUOGEMM_EMULATION_DIALECT_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "emulation/work_group.h"

using uint = unsigned int;
using ulong = unsigned long;
using ushort [[gnu::may_alias]] = unsigned short;
using std::fabs;
using std::fma;
using std::max;
using std::min;

#define FUNCTION static inline
// NOLINTBEGIN(bugprone-reserved-identifier): OpenCL C's own names
#define __kernel
#define __global
#define __local static
// NOLINTEND(bugprone-reserved-identifier)
#define LOCAL_PTR
#define work_group(items, resident) unused

// --- Vectors ---------------------------------------------------------------------------------------------
template <typename Element, int width>
struct alignas(width * sizeof(Element)) Vector {
  Vector() = default;
  Vector(Element all) { std::fill(s, s + width, all); }  // as OpenCL widens a scalar
  Element s[width];
};
using float1 = float;
using float2 = Vector<float, 2>;
using float4 = Vector<float, 4>;
#define FLOAT(width) float##width
struct alignas(16) uint4 {
  uint x, y, z, w;
};

template <int width, typename Operation>
Vector<float, width> for_each_element(const Operation& operation) {
  Vector<float, width> result;
  for (int i = 0; i < width; ++i) {
    result.s[i] = operation(i);
  }
  return result;
}
template <int width>
Vector<float, width> operator+(const Vector<float, width>& a, const Vector<float, width>& b) {
  return for_each_element<width>([&](int i) { return a.s[i] + b.s[i]; });
}
template <int width>
Vector<float, width> operator*(const Vector<float, width>& a, const Vector<float, width>& b) {
  return for_each_element<width>([&](int i) { return a.s[i] * b.s[i]; });
}
template <int width>
Vector<float, width> operator*(const Vector<float, width>& a, float b) {
  return a * Vector<float, width>(b);
}
template <int width>
Vector<float, width> fma(const Vector<float, width>& a, const Vector<float, width>& b,
                         const Vector<float, width>& c) {
  return for_each_element<width>([&](int i) { return std::fma(a.s[i], b.s[i], c.s[i]); });
}
inline float2 vload2(std::size_t i, const float* p) {
  return for_each_element<2>([&](int x) { return p[2 * i + static_cast<std::size_t>(x)]; });
}
inline float4 vload4(std::size_t i, const float* p) {
  return for_each_element<4>([&](int x) { return p[4 * i + static_cast<std::size_t>(x)]; });
}
inline void vstore2(const float2& value, std::size_t i, float* p) { std::copy_n(value.s, 2, p + 2 * i); }
inline void vstore4(const float4& value, std::size_t i, float* p) { std::copy_n(value.s, 4, p + 4 * i); }

// --- A kernel's struct, as OpenCL has it -----------------------------------------------------------------
#define ARGUMENTS(Struct) const Struct p
#define TAKE_ARGUMENTS(Struct)

// --- Work-items ------------------------------------------------------------------------------------------
inline std::size_t get_local_id(int) { return duogemm::emulation::item(); }
inline std::size_t get_group_id(int dimension) { return duogemm::emulation::group(dimension); }
inline std::size_t get_num_groups(int dimension) { return duogemm::emulation::groups(dimension); }
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
inline void barrier(int) { duogemm::emulation::barrier(); }

// --- Operations ------------------------------------------------------------------------------------------
#define GRID_DEPENDENCY_WAIT()
#define AS_FLOAT(bits) std::bit_cast<float>(bits)
#define AS_UINT(value) std::bit_cast<uint>(value)
#define CLUSTERS 0
#define OPAQUE(x)
// A copy happens at the latest moment that is allowed.
#define COPY_TO_LOCAL(width, to, from) duogemm::emulation::begin_copy(to, from, sizeof(float) * (width))
#define COPY_COMMIT() duogemm::emulation::commit_copies()
#define COPY_WAIT(pending) duogemm::emulation::await_copies(pending)

#endif
