"""libduogemm: the functions of duogemm.h and opencl.h that the package calls, through ctypes, and those of native, which are `calls`.
Every exception of the package is a duogemm.Error."""

import ctypes
import importlib
import pathlib

from ._paths import LIBRARIES

FOLDER = pathlib.Path(__file__).parent / LIBRARIES
INVALID_ARGUMENT = 1  # duogemm_status
PRECISIONS = {"fp32": 0, "bf16x6": 1, "f16x3": 2}  # duogemm_precision
LEVELS = {"run_to_run": 0, "everywhere": 1, "batch_invariant": 2}  # duogemm_reproducibility
ELEMENTS = {"float32": 0, "bfloat16": 1, "float16": 2}  # duogemm_element_type
ITEMS = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes of an element


class Error(Exception):
    """What all exceptions of this package have in common."""


class ArgumentError(Error, ValueError):
    """An argument has the right type and a wrong value: sizes, strides, an overlap, a device. Nothing was written."""


class ArrayTypeError(Error, TypeError):
    """An operand is no array that can be multiplied, or not of float32, bfloat16 or float16. Nothing was written."""


class DeviceError(Error, RuntimeError):
    """The device, driver or build cannot serve a right request. The result is not to be relied upon."""


for _error in (Error, ArgumentError, ArrayTypeError, DeviceError):
    _error.__module__ = __package__  # in tracebacks they go by the names that programs know


class Problem(ctypes.Structure):
    """duogemm_problem."""

    _fields_ = (
        [(name, ctypes.c_int) for name in ("layout", "a_op", "b_op")]
        + [(name, ctypes.c_int64) for name in ("m", "n", "k")]
        + [(name, ctypes.c_float) for name in ("alpha", "beta")]
        + [(name, ctypes.c_int64) for name in ("lda", "ldb", "ldc", "batch", "a_stride", "b_stride", "c_stride")]
        + [(name, ctypes.c_int) for name in ("level", "precision", "a_type", "b_type", "c_type")]
    )


try:
    _LIBRARY = ctypes.CDLL(str(FOLDER / "libduogemm.so"))
except OSError as error:
    raise DeviceError(f"libduogemm cannot be loaded: {error}") from None
_LIBRARY.duogemm_last_error.restype = ctypes.c_char_p
_LIBRARY.duogemm_version.restype = ctypes.c_char_p

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_ARGUMENTS = {
    "duogemm_sgemm": [_POINTER] * 4,
    "duogemm_opencl_sgemm": [_POINTER, _POINTER] + [_POINTER, _SIZE] * 3 + [_SIZE, _POINTER, _POINTER],
    "duogemm_cuda_prepared_bytes": [_POINTER, _POINTER, ctypes.c_int, _POINTER],
    "duogemm_cuda_prepare": [_POINTER, _POINTER, ctypes.c_int, _POINTER, _POINTER],
    "duogemm_cuda_sgemm_prepared": [_POINTER] * 7,
    "duogemm_cuda_sgemm_grouped": [_POINTER] * 6,
}


def _function(name):
    """None where the build leaves it out."""
    function = getattr(_LIBRARY, name, None)
    if function is not None:
        function.argtypes = _ARGUMENTS[name]
    return function


try:  # after the library, whose absence has been told of
    calls = importlib.import_module("._calls", __package__)
except ModuleNotFoundError:  # the build had no headers of Python
    calls = None
cuda_sgemm = getattr(calls, "cuda_sgemm", None)  # which a build may leave out
host_sgemm = _function("duogemm_sgemm")
opencl_sgemm = _function("duogemm_opencl_sgemm")
cuda_prepared_bytes = _function("duogemm_cuda_prepared_bytes")
cuda_prepare = _function("duogemm_cuda_prepare")
cuda_sgemm_prepared = _function("duogemm_cuda_sgemm_prepared")
cuda_sgemm_grouped = _function("duogemm_cuda_sgemm_grouped")


def version():
    """The library's version, such as "0.1.0"."""
    return _LIBRARY.duogemm_version().decode()


def last_error():
    """One line about the last call of this thread that failed."""
    return _LIBRARY.duogemm_last_error().decode()


def fail(status):
    """Raises what a status other than success stands for."""
    raise (ArgumentError if status == INVALID_ARGUMENT else DeviceError)(last_error())
