#include "product.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace duogemm::python {
namespace {

bool overlap(const Matrix& one, const Matrix& other) {
  return one.first < other.end && other.first < one.end;
}

duogemm_transpose op_of(const Matrix& operand, const Matrix& result) {
  return operand.by_rows == result.by_rows ? DUOGEMM_NO_TRANSPOSE : DUOGEMM_TRANSPOSE;
}

bool is_word(PyObject* object, const char* word) {
  return PyUnicode_CheckExact(object) && PyUnicode_CompareWithASCIIString(object, word) == 0;
}

std::optional<float> number(PyObject* object) {
  if (!PyLong_CheckExact(object) && !PyFloat_CheckExact(object)) {
    return std::nullopt;
  }
  const double value = PyFloat_AsDouble(object);
  const bool fits = std::abs(value) <= std::numeric_limits<float>::max() || !std::isfinite(value);
  return fits && PyErr_Occurred() == nullptr ? std::optional(static_cast<float>(value)) : std::nullopt;
}

}  // namespace

std::optional<Matrix> matrix_of(const void* first, std::int64_t rows, std::int64_t columns,
                                std::int64_t row_stride, std::int64_t column_stride) {
  const bool by_rows = column_stride == 1;
  const std::int64_t ld = by_rows ? row_stride : column_stride;
  if (rows < 1 || columns < 1 || ld < (by_rows ? columns : rows) || (!by_rows && row_stride != 1)) {
    return std::nullopt;
  }
  const auto* at = static_cast<const float*>(first);
  const float* end = at + ((by_rows ? rows : columns) - 1) * ld + (by_rows ? columns : rows);
  return Matrix{at, end, rows, columns, ld, by_rows};
}

std::optional<Request> request_of(PyObject* const* arguments, Py_ssize_t count) {
  if (count != 7) {
    return std::nullopt;
  }
  Request request{arguments[0], arguments[1], arguments[2], {}};
  const std::optional<float> alpha = number(arguments[3]);
  const std::optional<float> beta = number(arguments[4]);
  if (!alpha || !beta || (request.out == Py_None && *beta != 0.0f)) {
    return std::nullopt;
  }
  request.problem.alpha = *alpha;
  request.problem.beta = *beta;
  request.problem.batch = 1;
  constexpr std::array precisions = {std::pair("fp32", DUOGEMM_FP32), std::pair("f16x3", DUOGEMM_F16X3),
                                     std::pair("bf16x6", DUOGEMM_BF16X6)};
  constexpr std::array levels = {std::pair("run_to_run", DUOGEMM_RUN_TO_RUN),
                                 std::pair("everywhere", DUOGEMM_EVERYWHERE)};
  const auto set = [](auto& value, PyObject* word, const auto& words) {
    for (const auto& [name, its_value] : words) {
      if (is_word(word, name)) {
        value = its_value;
        return true;
      }
    }
    return false;
  };
  const bool known = set(request.problem.precision, arguments[5], precisions) &&
                     set(request.problem.level, arguments[6], levels);
  return known ? std::optional(request) : std::nullopt;
}

bool multiply(CUstream_st* stream, const Request& request, const Matrix& a, const Matrix& b,
              const Matrix& c) {
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns || overlap(a, c) || overlap(b, c)) {
    return false;
  }
  duogemm_problem problem = request.problem;
  problem.layout = c.by_rows ? DUOGEMM_ROW_MAJOR : DUOGEMM_COLUMN_MAJOR;
  problem.a_op = op_of(a, c);
  problem.b_op = op_of(b, c);
  problem.m = c.rows;
  problem.n = c.columns;
  problem.k = a.columns;
  problem.lda = a.ld;
  problem.ldb = b.ld;
  problem.ldc = c.ld;
  const WithoutLock others;
  return duogemm_cuda_sgemm(stream, &problem, a.first, b.first, const_cast<float*>(c.first)) ==
         DUOGEMM_SUCCESS;
}

PyObject* result_or_none(PyObject* result) {
  if (result == nullptr) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  return result;
}

}  // namespace duogemm::python
