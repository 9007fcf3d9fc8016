"""CuPy's arrays: on the current stream of their device."""

import contextlib

import cupy
from cupy.cuda import get_current_stream, runtime

from ._layout import call_for, require_cuda, run_on_stream
from ._library import ArgumentError, calls
from ._matmul import elements_of, learn_quick, named, require_kind, require_no_meaning

require_cuda()
_ARRAY, _FLOAT32 = cupy.ndarray, cupy.dtype("float32")
calls.know_cupy(_ARRAY, _FLOAT32, runtime.getDevice, get_current_stream)
learn_quick(_ARRAY, calls.cupy_product)


def multiply(a, b, out, alpha, beta, precision, level):
    arrays = named(a, b, out)
    require_kind(cupy.ndarray, **arrays)
    require_no_meaning(**arrays)
    elements = elements_of(a, b, out)
    for name, array in arrays.items():
        if array.data.device_id != a.data.device_id:
            raise ArgumentError(f"{name} is on device {array.data.device_id}; a is on device {a.data.device_id}")
    device = a.data.device_id
    layout = None if out is None else (out.shape, out.strides)
    call = call_for(a.shape, a.strides, b.shape, b.strides, layout, elements, True, alpha, beta, precision, level)
    with contextlib.nullcontext() if runtime.getDevice() == device else cupy.cuda.Device(device):
        result = cupy.empty(call.shape, _FLOAT32) if out is None else out
        run_on_stream(call, get_current_stream().ptr, device, a.data.ptr, b.data.ptr, result.data.ptr)
    return result
