"""What arrays in CUDA's memory have in common: the call on a stream."""

import ctypes

from ._errors import DeviceError
from ._layout import require_apart
from ._library import cuda_sgemm, fail, last_error


def require_cuda():
    """Raises where the library was built without CUDA."""
    if cuda_sgemm is None:
        raise DeviceError("arrays in CUDA's memory cannot be multiplied: this duogemm was built without CUDA")


def run_on_stream(call, stream, device, a, b, c):
    """Puts the multiplication on a stream. stream and a, b, c are addresses; device is the number of theirs, which is the current
    one, for a thread in which nothing has made its context current yet."""
    require_apart(call, a, b, c)
    for a_offset, b_offset, c_offset in call.offsets:
        status = cuda_sgemm(stream, call.reference, a + a_offset, b + b_offset, c + c_offset)
        if status:
            if not _lacks_context(last_error()) or not _make_current(device):
                fail(status)
            status = cuda_sgemm(stream, call.reference, a + a_offset, b + b_offset, c + c_offset)
            if status:
                fail(status)


def _lacks_context(error):
    """Whether a call failed because nothing has made a context current in this thread: on a stream of its own, or on the default."""
    return "no CUDA context is current" in error or "CUDA_ERROR_INVALID_CONTEXT" in error


def _make_current(device):
    """Makes a device's primary context current, as the runtime does at a thread's first call that needs it."""
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    return driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and driver.cuCtxSetCurrent(context) == 0
