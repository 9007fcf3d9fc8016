"""Single-precision matrix multiplication on OpenCL and CUDA: duogemm.matmul for arrays of NumPy, pyopencl, CuPy, PyTorch and JAX."""

from ._library import ArgumentError, ArrayTypeError, DeviceError, Error
from ._library import version as _version
from ._matmul import matmul
from ._program import devices, frame, ladder, plan, replay, tune

__version__ = _version()
__all__ = ["ArgumentError", "ArrayTypeError", "DeviceError", "Error", "devices", "frame", "ladder", "matmul", "plan", "replay", "tune"]
