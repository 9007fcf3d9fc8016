"""NumPy's arrays: the library's calls on host memory."""

import numpy

from ._layout import call_for, run_on_host
from ._library import ArgumentError, ArrayTypeError, calls, fail
from ._matmul import elements_of, learn_quick, named, require_kind, require_no_meaning

if calls:
    calls.know_numpy(numpy.ndarray, numpy.dtype("float32"), numpy.empty, fail)
    learn_quick(numpy.ndarray, calls.numpy_product)


def multiply(a, b, out, alpha, beta, precision, level):
    arrays = named(a, b, out)
    require_kind(numpy.ndarray, **arrays)
    if out is not None and not out.flags.writeable:
        raise ArgumentError("out is read-only")
    for name, array in arrays.items():
        if isinstance(array, numpy.ma.MaskedArray):
            raise ArrayTypeError(f"{name} is a masked array; its mask would be ignored")
        if not array.flags.aligned:
            raise ArgumentError(f"{name} is not aligned to its elements")
    require_no_meaning(**arrays)
    layout = None if out is None else (out.shape, out.strides)
    call = call_for(a.shape, a.strides, b.shape, b.strides, layout, elements_of(a, b, out), True, alpha, beta, precision, level)
    result = numpy.empty(call.shape, "float32") if out is None else out
    run_on_host(call, *(array.__array_interface__["data"][0] for array in (a, b, result)))
    return result
