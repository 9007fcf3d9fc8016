// Tensors, at which PyTorch lets others look in C: DLPack's exchange functions, which it has from 2.10 on.
// What would take Python a dozen calls is read here at once.
#include "product.h"

namespace duogemm::python {
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

// References that are kept for as long as the process lives.
struct {
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
} torch;

// Others have a meaning that is not known here.
bool is_plain(PyObject* object) {
  const PyObject* const kind = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return kind == torch.tensor || kind == torch.parameter;
}

struct Placed {
  Matrix matrix;
  int device;
};

// Nothing where it is no matrix of float32 in CUDA's memory that BLAS can take as it is.
std::optional<Placed> look_at(PyObject* object) {
  Tensor tensor{};
  if (torch.exchange->look_at(object, &tensor) != 0 || tensor.device_type != cuda || tensor.dimensions != 2 ||
      tensor.type != floats || tensor.bits != 32 || tensor.lanes != 1) {
    return std::nullopt;
  }
  // The values of one that is negated lazily are not what is in memory.
  const Owned negated(PyObject_CallMethodObjArgs(object, torch.is_neg, nullptr));
  const std::optional<Matrix> matrix = matrix_of(tensor.data + tensor.offset, tensor.shape[0],
                                                 tensor.shape[1], tensor.strides[0], tensor.strides[1]);
  return matrix && negated.get() == Py_False ? std::optional(Placed{*matrix, tensor.device}) : std::nullopt;
}

bool is_current(int device) {
  const Owned current(PyObject_CallNoArgs(torch.current_device));
  return current && PyLong_AsLong(current.get()) == device;
}

PyObject* new_tensor(std::int64_t rows, std::int64_t columns) {
  const Owned sizes(Py_BuildValue("(LL)", static_cast<long long>(rows), static_cast<long long>(columns)));
  const Owned strides(Py_BuildValue("(Li)", static_cast<long long>(columns), 1));
  return sizes && strides
             ? PyObject_CallFunctionObjArgs(torch.empty, sizes.get(), strides.get(), torch.float32, nullptr)
             : nullptr;
}

// Autograd then refuses gradients that would need what was in memory before.
bool is_known_as_changed(PyObject* tensor) {
  return static_cast<bool>(Owned(PyObject_CallFunctionObjArgs(torch.increment_version, tensor, nullptr)));
}

PyObject* tensor_product(const Request& request) {
  const std::optional<Placed> a = look_at(request.a);
  const std::optional<Placed> b = a && is_current(a->device) ? look_at(request.b) : std::nullopt;
  if (!b) {
    return nullptr;
  }
  Owned result(request.out != Py_None ? Py_NewRef(request.out)
                                      : new_tensor(a->matrix.rows, b->matrix.columns));
  const std::optional<Placed> c = result ? look_at(result.get()) : std::nullopt;
  CUstream_st* stream = nullptr;
  const bool done = c && b->device == a->device && c->device == a->device &&
                    torch.exchange->current_stream(cuda, a->device, &stream) == 0 &&
                    (request.out == Py_None || is_known_as_changed(request.out)) &&
                    multiply(stream, request, a->matrix, b->matrix, c->matrix);
  return done ? result.release() : nullptr;
}

bool is_true(const Owned& object) { return object.get() == Py_True; }

// Whether modes, transforms, a tracer or derivatives in forward mode have to see each operation.
bool is_observed() {
  for (Py_ssize_t i = 0; i < PyTuple_Size(torch.observers); ++i) {
    const Owned answer(PyObject_CallNoArgs(PyTuple_GetItem(torch.observers, i)));
    if (!answer || PyObject_IsTrue(answer.get()) != 0) {
      return true;
    }
  }
  const Owned level(PyObject_GetAttr(torch.forward_derivatives, torch.current_level));
  return !level || PyLong_AsLong(level.get()) >= 0;
}

bool takes_part_in_autograd(const Request& request) {
  for (PyObject* const object : {request.a, request.b, request.out}) {
    if (object != Py_None && is_true(Owned(PyObject_GetAttr(object, torch.requires_grad)))) {
      return is_true(Owned(PyObject_CallNoArgs(torch.is_grad_enabled)));
    }
  }
  return false;
}

bool is_plain(const Request& request) {
  return is_plain(request.a) && is_plain(request.b) && (request.out == Py_None || is_plain(request.out));
}

}  // namespace

PyObject* know_torch(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  constexpr unsigned known_major = 1;
  const void* functions = count == 10 ? PyCapsule_GetPointer(arguments[3], "dlpack_exchange_api") : nullptr;
  const auto* exchange = static_cast<const Exchange*>(functions);
  if (exchange == nullptr || exchange->version.major != known_major) {
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
  return result_or_none(request && is_plain(*request) ? tensor_product(*request) : nullptr);
}

PyObject* torch_product_without_autograd(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const std::optional<Request> request = request_of(arguments, count);
  const bool usual = request && is_plain(*request) && !takes_part_in_autograd(*request) && !is_observed();
  return result_or_none(usual ? tensor_product(*request) : nullptr);
}

}  // namespace duogemm::python
