"""The weights of a linear layer, split into terms for tensor cores once and kept."""

import ctypes

import torch

from ._layout import call_on_device
from ._library import ELEMENTS, PRECISIONS, DeviceError, Problem, cuda_prepare, cuda_prepared_bytes, cuda_sgemm_prepared
from ._torch import ELEMENTS_OF, on_device

_ROW_MAJOR, _TRANSPOSED, _B = 1, 1, 1  # duogemm_layout, duogemm_transpose, duogemm_operand
_without_tensor_cores = set()  # devices, by their numbers


def _can_prepare(weight, precision):
    """Whether the library may split it: on CUDA, by rows, with a count of its changes."""
    return (cuda_prepare is not None and precision != "fp32" and weight.is_cuda and weight.dtype in ELEMENTS_OF and weight.is_contiguous()
            and weight.numel() > 0 and not weight.is_inference() and weight.get_device() not in _without_tensor_cores)


class PreparedWeight:
    """The terms of a weight, `outputs` x `inputs`. They stay where they are when they are made anew, because CUDA graphs may read them
    there."""

    def __init__(self, weight, precision):
        """Raises DeviceError where the device has no tensor cores that the library can use."""
        self._precision = precision
        self._likeness = _likeness(weight)
        size = ctypes.c_size_t()
        self._call(weight, cuda_prepared_bytes, ctypes.byref(self._problem(weight, weight.dtype, 1)), _B, ctypes.byref(size))
        self._terms = torch.empty(size.value, dtype=torch.uint8, device=weight.device)
        self._storage = None

    @property
    def nbytes(self):
        return self._terms.nbytes

    def fits(self, weight, precision):
        """Whether the weight's terms have the same place and size."""
        return precision == self._precision and _likeness(weight) == self._likeness

    def is_current(self, weight):
        return self._storage is not None and self._version == weight._version and self._address == weight.data_ptr()

    def update(self, weight):
        """Splits the weight, and waits, because the next call may come on any stream."""
        version, self._storage = weight._version, None
        problem = self._problem(weight, weight.dtype, 1)
        self._call(weight, cuda_prepare, ctypes.byref(problem), _B, weight.data_ptr(), self._terms.data_ptr())
        torch.cuda.current_stream(weight.device).synchronize()
        self._version, self._address = version, weight.data_ptr()
        self._storage = weight.untyped_storage()  # nothing else is at the address as long as it lives

    def multiply(self, rows, weight):
        """rows @ weight.T, of a contiguous matrix, as a new one of float32."""
        product = rows.new_empty((rows.shape[0], weight.shape[0]), dtype=torch.float32)
        problem = self._problem(weight, rows.dtype, rows.shape[0])
        addresses = rows.data_ptr(), weight.data_ptr(), product.data_ptr(), None, self._terms.data_ptr()
        self._call(weight, cuda_sgemm_prepared, ctypes.byref(problem), *addresses)
        return product

    def _problem(self, weight, rows_type, count):
        outputs, inputs = weight.shape
        problem = Problem(layout=_ROW_MAJOR, b_op=_TRANSPOSED, m=count, n=outputs, k=inputs, alpha=1, batch=1)
        problem.lda, problem.ldb, problem.ldc = inputs, inputs, outputs
        problem.precision = PRECISIONS[self._precision]
        problem.a_type, problem.b_type = ELEMENTS[ELEMENTS_OF[rows_type]], ELEMENTS[ELEMENTS_OF[weight.dtype]]
        return problem

    @staticmethod
    def _call(weight, function, *arguments):
        number = weight.get_device()
        with on_device(number):
            call_on_device(number, function, torch._C._cuda_getCurrentRawStream(number), *arguments)


def _likeness(weight):
    return weight.shape, weight.dtype, weight.device


def prepare(kept, weight, precision):
    """The weight's terms: those that were kept, if they are still right, and None where there are none to be had."""
    if not _can_prepare(weight, precision):
        return None
    if kept is not None and kept.fits(weight, precision) and kept.is_current(weight):
        return kept
    if torch.cuda.is_current_stream_capturing():
        return None  # a graph would split them again at each launch, and nobody else could rely on them
    try:
        prepared = kept if kept is not None and kept.fits(weight, precision) else PreparedWeight(weight, precision)
        prepared.update(weight)
    except DeviceError:
        _without_tensor_cores.add(weight.get_device())
        return None
    return prepared
