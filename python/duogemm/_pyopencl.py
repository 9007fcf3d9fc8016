"""pyopencl's arrays: on their queue, after their events."""

import ctypes

import pyopencl
import pyopencl.array

from ._layout import call_for, require_apart
from ._library import ArgumentError, DeviceError, fail, opencl_sgemm
from ._matmul import elements_of, named, require_kind


def _check(a, b, out):
    if opencl_sgemm is None:
        raise DeviceError("pyopencl's arrays cannot be multiplied: this duogemm was built without OpenCL")
    arrays = named(a, b, out)
    require_kind(pyopencl.array.Array, **arrays)
    elements = elements_of(a, b, out)
    for name, array in arrays.items():
        if not isinstance(array.base_data, pyopencl.MemoryObjectHolder) and array.size:  # that of a pool is no MemoryObject
            raise ArgumentError(f"{name} is in shared virtual memory; it must be in a buffer")
        if array.offset % array.dtype.itemsize:
            raise ArgumentError(f"{name} begins {array.offset} bytes into its buffer; it must be a multiple of {array.dtype.itemsize}")
    return elements


def _queue(a, b, out):
    queue = next((array.queue for array in (out, a, b) if array is not None and array.queue is not None), None)
    if queue is None:
        raise ArgumentError("none of the arrays has a queue (array.with_queue gives it one)")
    # The library would find it in the arrays' events first, which their owners have not made themselves.
    for name, array in named(a, b, out).items():
        if array.context != queue.context:
            raise ArgumentError(f"{name} is in another context than the queue")
    return queue


def _place(array):
    """The buffer that holds its memory, and where there it begins: a sub-buffer is a part of another."""
    memory = array.base_data
    whole = memory.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    if whole is None:
        return memory.int_ptr, array.offset
    return whole.int_ptr, memory.get_info(pyopencl.mem_info.OFFSET) + array.offset


def _require_apart(call, a, b, out):
    if 0 in (a.size, b.size, out.size):
        return
    places = [_place(array) for array in (a, b, out)]
    far = 1 << 62  # what is in another buffer cannot overlap
    require_apart(call, *(offset if buffer == places[2][0] else far for buffer, offset in places))


def _enqueue(queue, call, wait_for, a, b, c):
    """The event of what was enqueued."""
    events = (ctypes.c_void_p * len(wait_for))(*(event.int_ptr for event in wait_for))
    done = ctypes.c_void_p()
    for steps in call.offsets:
        operands = []
        for array, step in zip((a, b, c), steps):
            operands += [array.base_data.int_ptr if array.size else None, (array.offset + step) // array.dtype.itemsize]
        status = opencl_sgemm(queue.int_ptr, call.reference, *operands, len(wait_for), events, ctypes.byref(done))
        if status:
            fail(status)
        if done:
            c.add_event(pyopencl.Event.from_int_ptr(done.value, retain=False))


def multiply(a, b, out, alpha, beta, precision, level):
    elements = _check(a, b, out)
    queue = _queue(a, b, out)
    layout = None if out is None else (out.shape, out.strides)
    call = call_for(a.shape, a.strides, b.shape, b.strides, layout, elements, True, alpha, beta, precision, level)
    result = pyopencl.array.empty(queue, call.shape, "float32") if out is None else out
    if out is not None:
        _require_apart(call, a, b, out)
    wait_for = [event for array in (a, b, result) for event in array.events]
    _enqueue(queue, call, wait_for, a, b, result)
    return result
