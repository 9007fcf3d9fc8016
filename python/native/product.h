// A product of two matrices in CUDA's memory, as Python asks for it.
#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>

#include "duogemm/cuda.h"

namespace duogemm::python {

// A reference of ours to an object, or none.
class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {}
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  PyObject* get() const { return object_; }
  PyObject* release() {
    PyObject* const object = object_;
    object_ = nullptr;
    return object;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// While one lives, other threads may run Python.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() { PyEval_RestoreThread(state_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// A matrix as BLAS sees it.
struct Matrix {
  const float* first;
  const float* end;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t ld;
  bool by_rows;
};

// Strides are in elements. Nothing where the matrix is empty or BLAS cannot take it as it is.
std::optional<Matrix> matrix_of(const void* first, std::int64_t rows, std::int64_t columns,
                                std::int64_t row_stride, std::int64_t column_stride);

// What duogemm.matmul is asked for.
struct Request {
  PyObject* a;
  PyObject* b;
  PyObject* out;            // None for a new one
  duogemm_problem problem;  // all but its sizes
};

// `a, b, out, alpha, beta, precision, level`. Nothing where they are not of the usual types, or one is wrong.
std::optional<Request> request_of(PyObject* const* arguments, Py_ssize_t count);

// Puts c <- alpha a b + beta c on a stream, and answers whether it did. Matrices that do not fit together or
// overlap are refused.
bool multiply(CUstream_st* stream, const Request& request, const Matrix& a, const Matrix& b, const Matrix& c);

// Answers the result or, where there is none, None: whoever called finds another way, or words for what is
// wrong.
PyObject* result_or_none(PyObject* result);

// What Python's module has of this. Each product takes `a, b, out, alpha, beta, precision, level`. It answers
// the result if it is on its way on the current stream of the current device, and None if nothing was done:
// where arrays are something else than matrices on that device, or anything about them is out of the
// ordinary.

// know_cupy(ndarray, float32, current_device, current_stream): before the first product of CuPy's arrays.
PyObject* know_cupy(PyObject*, PyObject* const* arguments, Py_ssize_t count);
PyObject* cupy_product(PyObject*, PyObject* const* arguments, Py_ssize_t count);

// know_torch(Tensor, Parameter, float32, exchange, current_device, is_grad_enabled, empty, increment_version,
// observers, forward_ad): before the first product of PyTorch's tensors. `exchange` is the capsule of
// DLPack's exchange functions, `empty(sizes, strides, dtype)` makes a tensor on the current device, and
// `observers` is a tuple of functions one of which answers something true while all operations have to be
// seen. Answers whether the functions are known here.
PyObject* know_torch(PyObject*, PyObject* const* arguments, Py_ssize_t count);
PyObject* torch_product(PyObject*, PyObject* const* arguments, Py_ssize_t count);
// The same where no tensor takes part in autograd and nothing observes PyTorch's operations. Otherwise
// nothing is done.
PyObject* torch_product_without_autograd(PyObject*, PyObject* const* arguments, Py_ssize_t count);

}  // namespace duogemm::python
