// CuPy's arrays, at which C can look by their attributes alone.
#include "product.h"

namespace duogemm::python {
namespace {

// References that are kept for as long as the process lives.
struct {
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
} cupy;

// 0 where there is no such number; then an exception tells.
std::int64_t attribute(PyObject* object, PyObject* name) {
  const Owned value(PyObject_GetAttr(object, name));
  return value ? PyLong_AsLongLong(value.get()) : 0;
}

struct Pair {
  std::int64_t first;
  std::int64_t second;
};

// Of a tuple of two.
std::optional<Pair> pair(PyObject* object, PyObject* name) {
  const Owned tuple(PyObject_GetAttr(object, name));
  if (!tuple || PyTuple_Size(tuple.get()) != 2) {
    return std::nullopt;
  }
  return Pair{PyLong_AsLongLong(PyTuple_GetItem(tuple.get(), 0)),
              PyLong_AsLongLong(PyTuple_GetItem(tuple.get(), 1))};
}

// Of a matrix, in elements. Most are contiguous, which is quicker to ask than what the strides are.
std::optional<Pair> strides_of(PyObject* object, const Pair& shape) {
  constexpr std::int64_t item = sizeof(float);
  const Owned contiguous(PyObject_GetAttr(object, cupy.contiguous));
  if (contiguous.get() == Py_True) {
    return Pair{shape.second, 1};
  }
  const std::optional<Pair> bytes = pair(object, cupy.strides);
  return bytes && bytes->first % item == 0 && bytes->second % item == 0
             ? std::optional(Pair{bytes->first / item, bytes->second / item})
             : std::nullopt;
}

// Nothing where it is no matrix of float32 on the device that BLAS can take as it is.
std::optional<Matrix> look_at(PyObject* object, std::int64_t device) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != cupy.ndarray) {
    return std::nullopt;
  }
  const Owned dtype(PyObject_GetAttr(object, cupy.dtype));
  const Owned data(PyObject_GetAttr(object, cupy.data));
  if (dtype.get() != cupy.float32 || !data || attribute(data.get(), cupy.device_id) != device) {
    return std::nullopt;
  }
  const std::optional<Pair> shape = pair(object, cupy.shape);
  const std::optional<Pair> strides = shape ? strides_of(object, *shape) : std::nullopt;
  if (!strides) {
    return std::nullopt;
  }
  const auto* first = reinterpret_cast<const float*>(attribute(data.get(), cupy.ptr));
  return PyErr_Occurred() == nullptr
             ? matrix_of(first, shape->first, shape->second, strides->first, strides->second)
             : std::nullopt;
}

PyObject* new_array(std::int64_t rows, std::int64_t columns) {
  const Owned shape(Py_BuildValue("(LL)", static_cast<long long>(rows), static_cast<long long>(columns)));
  return shape ? PyObject_CallFunctionObjArgs(cupy.ndarray, shape.get(), cupy.float32, nullptr) : nullptr;
}

PyObject* array_product(const Request& request) {
  const Owned current(PyObject_CallNoArgs(cupy.current_device));
  if (!current) {
    return nullptr;
  }
  const std::int64_t device = PyLong_AsLongLong(current.get());
  const std::optional<Matrix> a = look_at(request.a, device);
  const std::optional<Matrix> b = a ? look_at(request.b, device) : std::nullopt;
  if (!b) {
    return nullptr;
  }
  Owned result(request.out != Py_None ? Py_NewRef(request.out) : new_array(a->rows, b->columns));
  const std::optional<Matrix> c = result ? look_at(result.get(), device) : std::nullopt;
  const Owned stream(c ? PyObject_CallFunctionObjArgs(cupy.current_stream, current.get(), nullptr) : nullptr);
  if (!stream) {
    return nullptr;
  }
  auto* const handle = reinterpret_cast<CUstream_st*>(attribute(stream.get(), cupy.ptr));
  return PyErr_Occurred() == nullptr && multiply(handle, request, *a, *b, *c) ? result.release() : nullptr;
}

}  // namespace

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
  return result_or_none(request ? array_product(*request) : nullptr);
}

}  // namespace duogemm::python
