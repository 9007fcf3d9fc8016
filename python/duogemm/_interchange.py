"""Other arrays, by the protocols that they have: __cuda_array_interface__ and DLPack."""

import numpy

from ._layout import call_for, contiguous, require_cuda, run_on_stream
from ._library import ArgumentError, ArrayTypeError
from ._matmul import elements_of, matmul, require_no_meaning


class _CudaArray:
    """What __cuda_array_interface__ says of an array."""

    def __init__(self, name, array):
        facts = getattr(array, "__cuda_array_interface__", None)
        if facts is None:
            raise ArrayTypeError(f"{name} has no __cuda_array_interface__, as a has")
        try:
            self.dtype = numpy.dtype(facts["typestr"])
        except TypeError as error:
            raise ArrayTypeError(f"{name}: {error}") from None
        if facts.get("mask") is not None:
            raise ArrayTypeError(f"{name} has a mask, which would be ignored")
        self.shape = tuple(facts["shape"])
        self.strides = tuple(facts.get("strides") or (self.dtype.itemsize * stride for stride in contiguous(self.shape)))
        self.address, self.read_only = facts["data"]
        self.stream = facts.get("stream")


def _stream(arrays):
    """That on which all of them can be used; the legacy default stream where none is named."""
    named = {array.stream for array in arrays if array.stream is not None}
    if len(named) > 1:
        raise ArgumentError(f"the arrays are on different streams: {', '.join(map(str, sorted(named)))}")
    return named.pop() if named else 1


def _multiply_cuda(a, b, out, alpha, beta, precision, level):
    require_cuda()
    if out is None:
        raise ArgumentError(f"out is missing: there is no knowing how to make a new {type(a).__module__}.{type(a).__qualname__}")
    arrays = [_CudaArray(*named) for named in (("a", a), ("b", b), ("out", out))]
    if arrays[2].read_only:
        raise ArgumentError("out is read-only")
    first, second, result = arrays
    layout, elements = (result.shape, result.strides), elements_of(*arrays)
    call = call_for(first.shape, first.strides, second.shape, second.strides, layout, elements, True, alpha, beta, precision, level)
    run_on_stream(call, _stream(arrays), 0, *(array.address for array in arrays))
    return out


def _imported(name, array):
    """Through DLPack, without a copy: an array of NumPy, or of CuPy where it is in CUDA's memory."""
    if not hasattr(array, "__dlpack__"):
        raise ArrayTypeError(f"{name} is {type(array).__module__}.{type(array).__qualname__}, which has no DLPack, as a has")
    kind = int(array.__dlpack_device__()[0])
    try:
        if kind == 1:
            return numpy.from_dlpack(array)
        if kind == 2:
            import cupy

            return cupy.from_dlpack(array)
    except BufferError as error:
        raise ArgumentError(f"{name} cannot be had through DLPack: {error}") from None
    raise ArgumentError(f"{name} is on a device of DLPack's kind {kind}; it must be on a CPU or on CUDA")


def multiply(a, b, out, alpha, beta, precision, level):
    require_no_meaning(a=a, b=b, out=out)
    if hasattr(a, "__cuda_array_interface__"):
        return _multiply_cuda(a, b, out, alpha, beta, precision, level)
    imported = [None if array is None else _imported(name, array) for name, array in (("a", a), ("b", b), ("out", out))]
    result = matmul(*imported[:2], out=imported[2], alpha=alpha, beta=beta, precision=precision, level=level)
    return result if out is None else out
