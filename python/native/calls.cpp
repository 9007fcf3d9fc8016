// Python's module duogemm._calls: calls of the library whose host time matters, through Python's stable
// interface, and products of tensors that their library lets others look at in C (DLPack's exchange
// functions, which PyTorch has from 2.10 on). What would take Python a dozen calls is read here at once.
#include <Python.h>

#include <array>
#include <cstdint>
#include <optional>

#include "duogemm/cuda.h"

namespace {

constexpr int floats = 2;  // kDLFloat
constexpr int cuda = 2;    // kDLCUDA

// DLTensor.
struct Tensor {
  const char* data;
  std::int32_t device_type;
  std::int32_t device;
  std::int32_t dimensions;
  std::uint8_t type;
  std::uint8_t bits;
  std::uint16_t lanes;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::uint64_t offset;
};

// DLPackExchangeAPI, as far as it is used here.
struct Exchange {
  struct {
    std::uint32_t major;
    std::uint32_t minor;
  } version;
  const Exchange* older;
  void* allocate;
  void* export_managed;
  void* import_managed;
  int (*look_at)(void* object, Tensor* tensor);
  int (*current_stream)(int device_type, std::int32_t device, CUstream_st** stream);
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

// Nothing where it is no matrix of float32 on the device, or BLAS cannot take it as it is.
std::optional<Matrix> matrix_of(const Tensor& tensor, int device) {
  if (tensor.dimensions != 2 || tensor.type != floats || tensor.bits != 32 || tensor.lanes != 1 ||
      tensor.device_type != cuda || tensor.device != device) {
    return std::nullopt;
  }
  const std::int64_t rows = tensor.shape[0];
  const std::int64_t columns = tensor.shape[1];
  const bool by_rows = tensor.strides[1] == 1;
  const std::int64_t ld = tensor.strides[by_rows ? 0 : 1];
  if (rows < 1 || columns < 1 || ld < (by_rows ? columns : rows) || (!by_rows && tensor.strides[0] != 1)) {
    return std::nullopt;
  }
  const auto* first = reinterpret_cast<const float*>(tensor.data + tensor.offset);
  return Matrix{first, first + ((by_rows ? rows : columns) - 1) * ld + (by_rows ? columns : rows),
                rows,  columns,
                ld,    by_rows};
}

bool overlap(const Matrix& one, const Matrix& other) {
  return one.first < other.end && other.first < one.end;
}

duogemm_transpose op_of(const Matrix& operand, const Matrix& result) {
  return operand.by_rows == result.by_rows ? DUOGEMM_NO_TRANSPOSE : DUOGEMM_TRANSPOSE;
}

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

bool takes(Py_ssize_t wanted, Py_ssize_t given) {
  if (given != wanted) {
    PyErr_Format(PyExc_TypeError, "%zd arguments are needed, and %zd were given", wanted, given);
  }
  return given == wanted;
}

// cuda_sgemm(stream, problem, a, b, c): all of them addresses. Answers the status.
PyObject* cuda_sgemm(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  std::array<void*, 5> addresses{};
  if (!takes(addresses.size(), count)) {
    return nullptr;
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = PyLong_AsVoidPtr(arguments[i]);
    if (addresses[i] == nullptr && PyErr_Occurred() != nullptr) {
      return nullptr;
    }
  }
  const auto [stream, problem, a, b, c] = addresses;
  duogemm_status status{};
  {
    const WithoutLock others;
    status = duogemm_cuda_sgemm(static_cast<CUstream_st*>(stream), static_cast<duogemm_problem*>(problem),
                                static_cast<float*>(a), static_cast<float*>(b), static_cast<float*>(c));
  }
  return PyLong_FromLong(status);
}

// The problem of matrices that fit together and do not overlap.
std::optional<duogemm_problem> problem_of(const duogemm_problem& request, const Matrix& a, const Matrix& b,
                                          const Matrix& c) {
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns || overlap(a, c) || overlap(b, c)) {
    return std::nullopt;
  }
  duogemm_problem problem = request;
  problem.layout = c.by_rows ? DUOGEMM_ROW_MAJOR : DUOGEMM_COLUMN_MAJOR;
  problem.a_op = op_of(a, c);
  problem.b_op = op_of(b, c);
  problem.m = c.rows;
  problem.n = c.columns;
  problem.k = a.columns;
  problem.lda = a.ld;
  problem.ldb = b.ld;
  problem.ldc = c.ld;
  return problem;
}

// exchange_product(exchange, device, request, a, b, c): c <- alpha a b + beta c on the current stream of the
// device. `exchange` and `request` are addresses; the request has all of the problem but its sizes. Answers
// whether it was put there. Otherwise nothing was, and whoever called has to find another way, or words for
// what is wrong.
PyObject* exchange_product(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!takes(6, count)) {
    return nullptr;
  }
  const auto* exchange = static_cast<const Exchange*>(PyLong_AsVoidPtr(arguments[0]));
  const int device = static_cast<int>(PyLong_AsLong(arguments[1]));
  const auto* request = static_cast<const duogemm_problem*>(PyLong_AsVoidPtr(arguments[2]));
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  std::array<std::optional<Matrix>, 3> matrices;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    Tensor tensor{};
    if (exchange->look_at(arguments[3 + i], &tensor) != 0) {
      return nullptr;
    }
    matrices[i] = matrix_of(tensor, device);
    if (!matrices[i]) {
      return PyBool_FromLong(0);
    }
  }
  const auto& [a, b, c] = matrices;
  const std::optional<duogemm_problem> problem = problem_of(*request, *a, *b, *c);
  CUstream_st* stream = nullptr;
  if (!problem || exchange->current_stream(cuda, device, &stream) != 0) {
    return PyErr_Occurred() != nullptr ? nullptr : PyBool_FromLong(0);
  }
  duogemm_status status{};
  {
    const WithoutLock others;
    status = duogemm_cuda_sgemm(stream, &*problem, a->first, b->first, const_cast<float*>(c->first));
  }
  return PyBool_FromLong(status == DUOGEMM_SUCCESS);
}

// Python calls what METH_FASTCALL marks as what it is.
PyCFunction as_python_has_it(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier): Python wants this name
PyMODINIT_FUNC PyInit__calls() {
  static PyMethodDef functions[] = {
      {"cuda_sgemm", as_python_has_it(cuda_sgemm), METH_FASTCALL, nullptr},
      {"exchange_product", as_python_has_it(exchange_product), METH_FASTCALL, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef module{
      PyModuleDef_HEAD_INIT, "_calls", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(&module);
}
