"""CuPy's arrays: on the current stream of their device."""

import cupy
from cupy.cuda import get_current_stream, runtime

from ._cuda import require_cuda, run_on_stream
from ._errors import ArgumentError
from ._layout import call_for
from ._library import calls
from ._matmul import learn_quick, require_float32, require_kind, require_no_meaning

require_cuda()
_ARRAY, _FLOAT32 = cupy.ndarray, cupy.dtype("float32")
calls.know_cupy(_ARRAY, _FLOAT32, runtime.getDevice, get_current_stream)
learn_quick(_ARRAY, calls.cupy_product)


def _is_right(array, device):
    return type(array) is _ARRAY and array.dtype is _FLOAT32 and array.data.device_id == device


def _check(a, b, out):
    arrays = {"a": a, "b": b} if out is None else {"a": a, "b": b, "out": out}
    require_kind(cupy.ndarray, **arrays)
    require_no_meaning(**arrays)
    require_float32(**arrays)
    for name, array in arrays.items():
        if array.data.device_id != a.data.device_id:
            raise ArgumentError(f"{name} is on device {array.data.device_id}; a is on device {a.data.device_id}")


def multiply(a, b, out, alpha, beta, precision, level):
    # What is right is only glanced at, as that is quick; _check finds words for what is not.
    device = a.data.device_id
    if not (_is_right(a, device) and _is_right(b, device) and (out is None or _is_right(out, device))):
        _check(a, b, out)
    if runtime.getDevice() != device:
        with cupy.cuda.Device(device):
            return multiply(a, b, out, alpha, beta, precision, level)
    layout = None if out is None else (out.shape, out.strides)
    call = call_for(a.shape, a.strides, b.shape, b.strides, layout, 4, alpha, beta, precision, level)
    result = cupy.empty(call.shape, _FLOAT32) if out is None else out
    run_on_stream(call, get_current_stream().ptr, device, a.data.ptr, b.data.ptr, result.data.ptr)
    return result
