// Python's module duogemm._calls: calls of the library whose host time matters, through Python's stable
// interface.
#include <Python.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#ifdef DUOGEMM_WITH_CUDA
#include "duogemm/cuda.h"
#endif
#include "duogemm/duogemm.h"

namespace {

struct Release {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;

// duogemm.matmul is asked for this.
struct Request {
  PyObject* a;
  PyObject* b;
  PyObject* out;            // None for a new one
  duogemm_problem problem;  // all but its sizes
};

std::optional<float> number(PyObject* object) {
  if (!PyLong_CheckExact(object) && !PyFloat_CheckExact(object)) {
    return std::nullopt;
  }
  const double value = PyFloat_AsDouble(object);
  const bool fits = std::abs(value) <= std::numeric_limits<float>::max() || !std::isfinite(value);
  return fits && PyErr_Occurred() == nullptr ? std::optional(static_cast<float>(value)) : std::nullopt;
}

// Tells whether the object is one of the words, whose value is then set.
template <typename Value, std::size_t count>
bool set(Value& value, PyObject* object, const std::array<std::pair<const char*, Value>, count>& words) {
  for (const auto& [word, its_value] : words) {
    if (PyUnicode_CheckExact(object) && PyUnicode_CompareWithASCIIString(object, word) == 0) {
      value = its_value;
      return true;
    }
  }
  return false;
}

// `a, b, out, alpha, beta, precision, level`. Nothing where they are not of the usual types, or one is wrong.
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
                                 std::pair("everywhere", DUOGEMM_EVERYWHERE),
                                 std::pair("batch_invariant", DUOGEMM_BATCH_INVARIANT)};
  const bool known = set(request.problem.precision, arguments[5], precisions) &&
                     set(request.problem.level, arguments[6], levels);
  return known ? std::optional(request) : std::nullopt;
}

// A matrix on a device or in the host's memory, as BLAS sees it.
struct Matrix {
  const float* first;
  const float* end;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t ld;
  bool by_rows;
  std::int64_t device;
};

// Strides are in elements. Nothing where the matrix is empty or BLAS cannot take it as it is.
std::optional<Matrix> matrix_of(std::int64_t device, const void* first, std::int64_t rows,
                                std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  const bool by_rows = column_stride == 1;
  const std::int64_t ld = by_rows ? row_stride : column_stride;
  if (rows < 1 || columns < 1 || ld < (by_rows ? columns : rows) || (!by_rows && row_stride != 1)) {
    return std::nullopt;
  }
  const auto* at = static_cast<const float*>(first);
  const float* end = at + ((by_rows ? rows : columns) - 1) * ld + (by_rows ? columns : rows);
  return Matrix{at, end, rows, columns, ld, by_rows, device};
}

bool overlap(const Matrix& one, const Matrix& other) {
  return one.first < other.end && other.first < one.end;
}

duogemm_transpose op_of(const Matrix& operand, const Matrix& result) {
  return operand.by_rows == result.by_rows ? DUOGEMM_NO_TRANSPOSE : DUOGEMM_TRANSPOSE;
}

// c <- alpha a b + beta c, unless the matrices do not fit together or overlap.
std::optional<duogemm_problem> problem_of(const Request& request, const Matrix& a, const Matrix& b,
                                          const Matrix& c) {
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns || overlap(a, c) || overlap(b, c)) {
    return std::nullopt;
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
  return problem;
}

// Where there is no result, whoever called finds another way, or words for what is wrong.
PyObject* result_or_none(Owned result) {
  if (!result) {
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  return result.release();
}

// A new array of that many rows and columns, by a function that takes those in a tuple, and the type.
PyObject* make_array(PyObject* maker, std::int64_t rows, std::int64_t columns, PyObject* dtype) {
  const Owned sizes(Py_BuildValue("(LL)", static_cast<long long>(rows), static_cast<long long>(columns)));
  return sizes ? PyObject_CallFunctionObjArgs(maker, sizes.get(), dtype, nullptr) : nullptr;
}

// NumPy's arrays, at which C can look by the array interface that every version has. References are kept for
// as long as the process lives.
struct Numpy {
  PyObject* ndarray;
  PyObject* float32;
  PyObject* empty;
  PyObject* fail;          // raises what a status says
  PyObject* array_struct;  // a name

  // PyArrayInterface.
  struct Interface {
    int two;
    int dimensions;
    char kind;
    int item_bytes;
    int flags;
    const Py_ssize_t* shape;
    const Py_ssize_t* strides;  // in bytes
    const void* data;
  };
  static constexpr int aligned = 0x100;
  static constexpr int native_order = 0x200;
  static constexpr int writeable = 0x400;

  // Nothing where it is no matrix of float32 with all those flags that BLAS can take as it is.
  std::optional<Matrix> look_at(PyObject* object, int flags) const {
    constexpr Py_ssize_t item = sizeof(float);
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != ndarray) {
      return std::nullopt;
    }
    const Owned capsule(PyObject_GetAttr(object, array_struct));
    const void* const pointer = capsule ? PyCapsule_GetPointer(capsule.get(), nullptr) : nullptr;
    const auto* found = static_cast<const Interface*>(pointer);
    if (found == nullptr || found->two != 2 || found->dimensions != 2 || found->kind != 'f' ||
        found->item_bytes != item || (found->flags & flags) != flags || found->strides[0] % item != 0 ||
        found->strides[1] % item != 0) {
      return std::nullopt;
    }
    return matrix_of(0, found->data, found->shape[0], found->shape[1], found->strides[0] / item,
                     found->strides[1] / item);
  }

  // The result, None where anything about the arrays is out of the ordinary, and nothing with an exception
  // where the library fails: C may have changed then, and must not be computed once more.
  PyObject* product(const Request& request) const {
    constexpr int readable = aligned | native_order;
    const std::optional<Matrix> a = look_at(request.a, readable);
    const std::optional<Matrix> b = a ? look_at(request.b, readable) : std::nullopt;
    if (!b) {
      return result_or_none(nullptr);
    }
    Owned result(request.out == Py_None ? make_array(empty, a->rows, b->columns, float32)
                                        : Py_NewRef(request.out));
    const std::optional<Matrix> c = result ? look_at(result.get(), readable | writeable) : std::nullopt;
    const std::optional<duogemm_problem> problem = c ? problem_of(request, *a, *b, *c) : std::nullopt;
    if (!problem) {
      return result_or_none(nullptr);
    }
    duogemm_status status{};
    Py_BEGIN_ALLOW_THREADS;
    status = duogemm_sgemm(&*problem, a->first, b->first, const_cast<float*>(c->first));
    Py_END_ALLOW_THREADS;
    return status == DUOGEMM_SUCCESS ? result.release()
                                     : PyObject_CallFunction(fail, "i", static_cast<int>(status));
  }
} numpy;

// know_numpy(ndarray, float32, empty, fail): before the first product of NumPy's arrays.
PyObject* know_numpy(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "4 arguments are needed");
    return nullptr;
  }
  numpy = {Py_NewRef(arguments[0]), Py_NewRef(arguments[1]), Py_NewRef(arguments[2]), Py_NewRef(arguments[3]),
           PyUnicode_InternFromString("__array_struct__")};
  Py_RETURN_NONE;
}

PyObject* numpy_product(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const std::optional<Request> request = request_of(arguments, count);
  return request ? numpy.product(*request) : result_or_none(nullptr);
}

#ifdef DUOGEMM_WITH_CUDA

// cuda_sgemm(stream, problem, a, b, c): all of them addresses. Answers the status.
PyObject* cuda_sgemm(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  std::array<void*, 5> addresses{};
  if (static_cast<std::size_t>(count) != addresses.size()) {
    return PyErr_Format(PyExc_TypeError, "5 arguments are needed, and %zd were given", count);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = PyLong_AsVoidPtr(arguments[i]);
    if (addresses[i] == nullptr && PyErr_Occurred() != nullptr) {
      return nullptr;
    }
  }
  const auto [stream, problem, a, b, c] = addresses;
  duogemm_status status{};
  Py_BEGIN_ALLOW_THREADS;
  status = duogemm_cuda_sgemm(static_cast<CUstream_st*>(stream), static_cast<duogemm_problem*>(problem),
                              static_cast<float*>(a), static_cast<float*>(b), static_cast<float*>(c));
  Py_END_ALLOW_THREADS;
  return PyLong_FromLong(status);
}

// Puts c <- alpha a b + beta c on a stream, and answers whether it did.
bool multiply(CUstream_st* stream, const Request& request, const Matrix& a, const Matrix& b,
              const Matrix& c) {
  const std::optional<duogemm_problem> problem = problem_of(request, a, b, c);
  if (!problem) {
    return false;
  }
  duogemm_status status{};
  Py_BEGIN_ALLOW_THREADS;
  status = duogemm_cuda_sgemm(stream, &*problem, a.first, b.first, const_cast<float*>(c.first));
  Py_END_ALLOW_THREADS;
  return status == DUOGEMM_SUCCESS;
}

// The result if it is on its way on the current stream of the current device. Nothing was done where there is
// none: where arrays are something else than matrices on that device, or anything about them is out of the
// ordinary.
template <typename Library>
Owned product(const Library& library, const Request& request) {
  const std::optional<Matrix> a = library.look_at(request.a);
  const Owned current(a ? PyObject_CallNoArgs(library.current_device) : nullptr);
  const bool here = current && PyLong_AsLongLong(current.get()) == a->device;
  const std::optional<Matrix> b = here ? library.look_at(request.b) : std::nullopt;
  if (!b) {
    return nullptr;
  }
  const bool made = request.out == Py_None;
  Owned result(made ? library.make(a->rows, b->columns) : Py_NewRef(request.out));
  const std::optional<Matrix> c = result ? library.look_at(result.get()) : std::nullopt;
  if (!c || b->device != a->device || c->device != a->device) {
    return nullptr;
  }
  const std::optional<CUstream_st*> stream = library.stream_on(current.get());
  const bool done =
      stream && (made || library.will_change(result.get())) && multiply(*stream, request, *a, *b, *c);
  return done ? std::move(result) : nullptr;
}

// 0 where there is no such number; then an exception tells.
std::int64_t attribute(PyObject* object, PyObject* name) {
  const Owned value(PyObject_GetAttr(object, name));
  return value ? PyLong_AsLongLong(value.get()) : 0;
}

// Takes a tuple of two.
std::optional<std::array<std::int64_t, 2>> pair(PyObject* object, PyObject* name) {
  const Owned tuple(PyObject_GetAttr(object, name));
  if (!tuple || PyTuple_Size(tuple.get()) != 2) {
    return std::nullopt;
  }
  return std::array<std::int64_t, 2>{PyLong_AsLongLong(PyTuple_GetItem(tuple.get(), 0)),
                                     PyLong_AsLongLong(PyTuple_GetItem(tuple.get(), 1))};
}

// CuPy's arrays, at which C can look by their attributes alone. References are kept for as long as the
// process lives.
struct Cupy {
  PyObject* ndarray;
  PyObject* float32;
  PyObject* current_device;
  PyObject* current_stream;
  PyObject* contiguous;  // names
  PyObject* data;
  PyObject* device_id;
  PyObject* dtype;
  PyObject* ptr;
  PyObject* shape;
  PyObject* strides;

  // Nothing where it is no matrix of float32 that BLAS can take as it is.
  std::optional<Matrix> look_at(PyObject* object) const {
    constexpr std::int64_t item = sizeof(float);
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != ndarray) {
      return std::nullopt;
    }
    const Owned its_dtype(PyObject_GetAttr(object, dtype));
    const Owned memory(PyObject_GetAttr(object, data));
    const auto sizes = its_dtype.get() == float32 && memory ? pair(object, shape) : std::nullopt;
    if (!sizes) {
      return std::nullopt;
    }
    // Most are contiguous, which is quicker to ask than what the strides are.
    const Owned dense(PyObject_GetAttr(object, contiguous));
    const auto bytes = dense.get() == Py_True ? std::array{item * (*sizes)[1], item} : pair(object, strides);
    const auto* first = reinterpret_cast<const float*>(attribute(memory.get(), ptr));
    const std::int64_t device = attribute(memory.get(), device_id);
    return bytes && (*bytes)[0] % item == 0 && (*bytes)[1] % item == 0 && PyErr_Occurred() == nullptr
               ? matrix_of(device, first, (*sizes)[0], (*sizes)[1], (*bytes)[0] / item, (*bytes)[1] / item)
               : std::nullopt;
  }

  PyObject* make(std::int64_t rows, std::int64_t columns) const {
    return make_array(ndarray, rows, columns, float32);
  }

  std::optional<CUstream_st*> stream_on(PyObject* device) const {
    const Owned stream(PyObject_CallFunctionObjArgs(current_stream, device, nullptr));
    const std::int64_t handle = stream ? attribute(stream.get(), ptr) : 0;
    return PyErr_Occurred() == nullptr ? std::optional(reinterpret_cast<CUstream_st*>(handle)) : std::nullopt;
  }

  bool will_change(PyObject*) const { return true; }
} cupy;

// know_cupy(ndarray, float32, current_device, current_stream): before the first product of CuPy's arrays.
PyObject* know_cupy(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "4 arguments are needed");
    return nullptr;
  }
  const auto name = [](const char* text) { return PyUnicode_InternFromString(text); };
  cupy = {Py_NewRef(arguments[0]), Py_NewRef(arguments[1]), Py_NewRef(arguments[2]),
          Py_NewRef(arguments[3]), name("_c_contiguous"),   name("data"),
          name("device_id"),       name("dtype"),           name("ptr"),
          name("shape"),           name("strides")};
  Py_RETURN_NONE;
}

PyObject* cupy_product(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const std::optional<Request> request = request_of(arguments, count);
  return result_or_none(request ? product(cupy, *request) : nullptr);
}

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
  std::uint32_t major;
  std::uint32_t minor;
  const Exchange* older;
  void* allocate;
  void* export_managed;
  void* import_managed;
  int (*look_at)(void* object, Tensor* tensor);
  int (*current_stream)(int device_type, std::int32_t device, CUstream_st** stream);
};

// Tensors, at which PyTorch lets others look in C: DLPack's exchange functions, which it has from 2.10 on.
// What would take Python a dozen calls is read here at once. References are kept as above.
struct Torch {
  PyObject* tensor;
  PyObject* parameter;
  PyObject* float32;
  const Exchange* exchange;
  PyObject* current_device;
  PyObject* is_grad_enabled;
  PyObject* empty;
  PyObject* increment_version;
  PyObject* observers;
  PyObject* forward_derivatives;
  PyObject* requires_grad;  // names
  PyObject* is_neg;
  PyObject* current_level;

  // Nothing where it is no matrix of float32 in CUDA's memory that BLAS can take as it is.
  std::optional<Matrix> look_at(PyObject* object) const {
    Tensor found{};
    if (exchange->look_at(object, &found) != 0 || found.device_type != cuda || found.dimensions != 2 ||
        found.type != floats || found.bits != 32 || found.lanes != 1) {
      return std::nullopt;
    }
    // The values of one that is negated lazily are not what is in memory.
    const Owned negated(PyObject_CallMethodObjArgs(object, is_neg, nullptr));
    return negated.get() == Py_False ? matrix_of(found.device, found.data + found.offset, found.shape[0],
                                                 found.shape[1], found.strides[0], found.strides[1])
                                     : std::nullopt;
  }

  PyObject* make(std::int64_t rows, std::int64_t columns) const {
    const Owned sizes(Py_BuildValue("(LL)", static_cast<long long>(rows), static_cast<long long>(columns)));
    const Owned strides(Py_BuildValue("(Li)", static_cast<long long>(columns), 1));
    return sizes && strides
               ? PyObject_CallFunctionObjArgs(empty, sizes.get(), strides.get(), float32, nullptr)
               : nullptr;
  }

  std::optional<CUstream_st*> stream_on(PyObject* device) const {
    CUstream_st* stream = nullptr;
    const bool known =
        exchange->current_stream(cuda, static_cast<std::int32_t>(PyLong_AsLong(device)), &stream) == 0;
    return known ? std::optional(stream) : std::nullopt;
  }

  // Autograd then refuses gradients that would need what was in memory before.
  bool will_change(PyObject* object) const {
    return Owned(PyObject_CallFunctionObjArgs(increment_version, object, nullptr)) != nullptr;
  }

  // Others have a meaning that is not known here.
  bool is_plain(PyObject* object) const {
    const PyObject* const kind = reinterpret_cast<PyObject*>(Py_TYPE(object));
    return kind == tensor || kind == parameter;
  }

  bool is_plain(const Request& request) const {
    return is_plain(request.a) && is_plain(request.b) && (request.out == Py_None || is_plain(request.out));
  }

  bool takes_part_in_autograd(const Request& request) const {
    for (PyObject* const object : {request.a, request.b, request.out}) {
      if (object != Py_None && Owned(PyObject_GetAttr(object, requires_grad)).get() == Py_True) {
        return Owned(PyObject_CallNoArgs(is_grad_enabled)).get() == Py_True;
      }
    }
    return false;
  }

  // Tells whether modes, transforms, a tracer or derivatives in forward mode have to see each operation.
  bool is_observed() const {
    for (Py_ssize_t i = 0; i < PyTuple_Size(observers); ++i) {
      const Owned answer(PyObject_CallNoArgs(PyTuple_GetItem(observers, i)));
      if (!answer || PyObject_IsTrue(answer.get()) != 0) {
        return true;
      }
    }
    const Owned level(PyObject_GetAttr(forward_derivatives, current_level));
    return !level || PyLong_AsLong(level.get()) >= 0;
  }
} torch;

// know_torch(Tensor, Parameter, float32, exchange, current_device, is_grad_enabled, empty, increment_version,
// observers, forward_ad): before the first product of PyTorch's tensors. `exchange` is the capsule of
// DLPack's exchange functions, `empty(sizes, strides, dtype)` makes a tensor on the current device, and
// `observers` is a tuple of functions one of which answers something true while all operations have to be
// seen. Answers whether the functions are known here.
PyObject* know_torch(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  constexpr unsigned known_major = 1;
  const void* functions = count == 10 ? PyCapsule_GetPointer(arguments[3], "dlpack_exchange_api") : nullptr;
  const auto* exchange = static_cast<const Exchange*>(functions);
  if (exchange == nullptr || exchange->major != known_major) {
    PyErr_Clear();
    Py_RETURN_FALSE;
  }
  torch = {Py_NewRef(arguments[0]),
           Py_NewRef(arguments[1]),
           Py_NewRef(arguments[2]),
           exchange,
           Py_NewRef(arguments[4]),
           Py_NewRef(arguments[5]),
           Py_NewRef(arguments[6]),
           Py_NewRef(arguments[7]),
           Py_NewRef(arguments[8]),
           Py_NewRef(arguments[9]),
           PyUnicode_InternFromString("requires_grad"),
           PyUnicode_InternFromString("is_neg"),
           PyUnicode_InternFromString("_current_level")};
  Py_RETURN_TRUE;
}

PyObject* torch_product(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const std::optional<Request> request = request_of(arguments, count);
  return result_or_none(request && torch.is_plain(*request) ? product(torch, *request) : nullptr);
}

// The same where no tensor takes part in autograd and nothing observes PyTorch's operations.
PyObject* torch_product_without_autograd(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const std::optional<Request> request = request_of(arguments, count);
  const bool usual =
      request && torch.is_plain(*request) && !torch.takes_part_in_autograd(*request) && !torch.is_observed();
  return result_or_none(usual ? product(torch, *request) : nullptr);
}

#endif

// Python calls what METH_FASTCALL marks as what it is.
PyMethodDef method(const char* name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL,
          nullptr};
}

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier): Python wants this name
PyMODINIT_FUNC PyInit__calls() {
  static PyMethodDef functions[] = {method("know_numpy", know_numpy),
                                    method("numpy_product", numpy_product),
#ifdef DUOGEMM_WITH_CUDA
                                    method("cuda_sgemm", cuda_sgemm),
                                    method("know_cupy", know_cupy),
                                    method("cupy_product", cupy_product),
                                    method("know_torch", know_torch),
                                    method("torch_product", torch_product),
                                    method("torch_product_without_autograd", torch_product_without_autograd),
#endif
                                    {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef module{
      PyModuleDef_HEAD_INIT, "_calls", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(&module);
}
