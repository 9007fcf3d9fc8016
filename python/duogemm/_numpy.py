"""NumPy's arrays: the library's calls on host memory."""

import numpy

from ._errors import ArgumentError, ArrayTypeError
from ._layout import call_for, require_apart
from ._library import fail, host_sgemm
from ._matmul import require_float32, require_kind, require_no_meaning

_FLOAT32 = numpy.dtype("float32")


def _is_right(array):
    return type(array) is numpy.ndarray and array.dtype is _FLOAT32 and array.flags.aligned


def _check(a, b, out):
    require_kind(numpy.ndarray, b=b)
    arrays = {"a": a, "b": b}
    if out is not None:
        require_kind(numpy.ndarray, out=out)
        arrays["out"] = out
        if not out.flags.writeable:
            raise ArgumentError("out is read-only")
    for name, array in arrays.items():
        if isinstance(array, numpy.ma.MaskedArray):
            raise ArrayTypeError(f"{name} is a masked array; its mask would be ignored")
        if not array.flags.aligned:
            raise ArgumentError(f"{name} is not aligned to its elements")
    require_no_meaning(**arrays)
    require_float32(**arrays)


def run_on_host(call, a, b, c):
    """The arguments are addresses."""
    require_apart(call, a, b, c)
    for a_offset, b_offset, c_offset in call.offsets:
        status = host_sgemm(call.reference, a + a_offset, b + b_offset, c + c_offset)
        if status:
            fail(status)


def multiply(a, b, out, alpha, beta, precision, level):
    # What is right is only glanced at, as that is quick; _check finds words for what is not.
    if not (_is_right(a) and _is_right(b) and (out is None or (_is_right(out) and out.flags.writeable))):
        _check(a, b, out)
    layout = None if out is None else (out.shape, out.strides)
    call = call_for(a.shape, a.strides, b.shape, b.strides, layout, 4, alpha, beta, precision, level)
    result = numpy.empty(call.shape, _FLOAT32) if out is None else out
    run_on_host(call, *(array.__array_interface__["data"][0] for array in (a, b, result)))
    return result
