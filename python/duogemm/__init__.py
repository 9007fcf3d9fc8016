"""Single-precision matrix multiplication on OpenCL and CUDA: duogemm.matmul for arrays of NumPy, pyopencl, CuPy, PyTorch and JAX."""

from ._library import ArgumentError, ArrayTypeError, DeviceError, Error
from ._library import version as _version
from ._matmul import matmul
from ._program import accuracy, compare, devices, explain, ladder, latency, plan, replay, sweep, tune, verify, warm
from ._results import Result, frame

__version__ = _version()
__all__ = [
    "ArgumentError",
    "ArrayTypeError",
    "DeviceError",
    "Error",
    "Result",
    "accuracy",
    "compare",
    "devices",
    "explain",
    "frame",
    "ladder",
    "latency",
    "matmul",
    "plan",
    "replay",
    "sweep",
    "tune",
    "verify",
    "warm",
]
