"""Products of consecutive rows of one tensor with matrices of their own, on CUDA by one call that does not wait for their number."""

import ctypes

import torch

from ._layout import call_for, call_on_device
from ._library import ArgumentError, ArrayTypeError, Problem, cuda_sgemm_grouped
from ._torch import ELEMENTS_OF, as_blas_has_it, multiply_plain, on_device, require_dense, require_device


def require_groups(a, b, offs):
    """Raises what torch.nn.functional.grouped_mm would not take, either, in words."""
    for name, tensor, rank in (("a", a, 2), ("b", b, 3), ("offs", offs, 1)):
        if tensor.dim() != rank:
            raise ArgumentError(f"{name} has {tensor.dim()} dimensions; it must have {rank}")
    require_dense(a=a, b=b)
    if offs.device != a.device:
        raise ArgumentError(f"offs is on {offs.device}; a is on {a.device}")
    if offs.dtype is not torch.int32:
        raise ArrayTypeError(f"offs is of {offs.dtype}; it must be of torch.int32")
    if a.shape[1] != b.shape[1]:
        raise ArgumentError(f"a has the shape {tuple(a.shape)} and b {tuple(b.shape)}: the inner dimensions differ")
    if offs.shape[0] != b.shape[0]:
        raise ArgumentError(f"offs has {offs.shape[0]} elements; b has {b.shape[0]} matrices")


def multiply_groups(a, b, offs, precision, level):
    """A new tensor of float32: rows offs[i - 1] to offs[i] of a, times b[i]. What it has from offs[-1] on has no meaning."""
    require_device(a.device)
    a, b = as_blas_has_it(a), as_blas_has_it(b)
    product = a.new_empty((a.shape[0], b.shape[2]), dtype=torch.float32)
    if product.numel() == 0 or b.shape[0] == 0:
        return product
    if a.device.type == "cpu":
        for i, (begin, end) in enumerate(rows_of_groups(offs)):
            multiply_plain(a[begin:end], b[i], product[begin:end], 1.0, 0.0, precision, level)
        return product
    elements = ELEMENTS_OF[a.dtype], ELEMENTS_OF[b.dtype], "float32"
    of_one = call_for(a.shape, a.stride(), b.shape[1:], b.stride()[1:], None, elements, False, 1.0, 0.0, precision, level)
    problem = Problem.from_buffer_copy(of_one.problem)  # that one is kept for others
    problem.batch, problem.b_stride = b.shape[0], b.stride(0)
    number, ends = a.get_device(), offs.contiguous()
    addresses = ends.data_ptr(), a.data_ptr(), b.data_ptr(), product.data_ptr()
    with on_device(number):
        stream = torch._C._cuda_getCurrentRawStream(number)
        call_on_device(number, cuda_sgemm_grouped, stream, ctypes.addressof(problem), *addresses)
    return product


def rows_of_groups(offs):
    """From where to where, as numbers of Python's: on CUDA it waits for them."""
    ends = offs.tolist()
    return list(zip([0, *ends], ends))
