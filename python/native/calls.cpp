// Python's module duogemm._calls: calls of the library whose host time matters, through Python's stable
// interface.
#include <array>

#include "product.h"

namespace duogemm::python {
namespace {

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
  {
    const WithoutLock others;
    status = duogemm_cuda_sgemm(static_cast<CUstream_st*>(stream), static_cast<duogemm_problem*>(problem),
                                static_cast<float*>(a), static_cast<float*>(b), static_cast<float*>(c));
  }
  return PyLong_FromLong(status);
}

// Python calls what METH_FASTCALL marks as what it is.
PyCFunction as_python_has_it(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace
}  // namespace duogemm::python

using namespace duogemm::python;

// NOLINTNEXTLINE(bugprone-reserved-identifier): Python wants this name
PyMODINIT_FUNC PyInit__calls() {
  static PyMethodDef functions[] = {
      {"cuda_sgemm", as_python_has_it(cuda_sgemm), METH_FASTCALL, nullptr},
      {"know_cupy", as_python_has_it(know_cupy), METH_FASTCALL, nullptr},
      {"cupy_product", as_python_has_it(cupy_product), METH_FASTCALL, nullptr},
      {"know_torch", as_python_has_it(know_torch), METH_FASTCALL, nullptr},
      {"torch_product", as_python_has_it(torch_product), METH_FASTCALL, nullptr},
      {"torch_product_without_autograd", as_python_has_it(torch_product_without_autograd), METH_FASTCALL,
       nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef module{
      PyModuleDef_HEAD_INIT, "_calls", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(&module);
}
