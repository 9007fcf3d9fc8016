"""PyTorch's tensors: on the current stream of their device, or on the host's memory."""

import contextlib

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version

from ._layout import call_for, fits, require_cuda, run_on_host, run_on_stream
from ._library import ArgumentError, ArrayTypeError, calls, cuda_sgemm
from ._matmul import learn_quick, matmul, matmul_in_python, named, refuse_elements, require_kind

_PLAIN = (torch.Tensor, torch.nn.Parameter)
ELEMENTS_OF = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}
_is_compiling = torch.compiler.is_dynamo_compiling
# Each answers something that is true while a part of PyTorch wants to see all operations: modes, transforms of torch.func, a tracer.
_OBSERVERS = (
    torch._C._len_torch_dispatch_stack,
    torch._C._is_torch_function_mode_enabled,
    torch._C._are_functorch_transforms_active,
    torch._C._is_tracing,
)


def _learn_quick():
    """Whether this PyTorch lets C look at its tensors, by DLPack's exchange functions."""
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if cuda_sgemm is None or exchange is None or not torch.backends.cuda.is_built():
        return False
    empty = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", None) or _empty
    functions = torch._C._cuda_getDevice, torch.is_grad_enabled, empty, increment_version
    if not calls.know_torch(*_PLAIN, torch.float32, exchange, *functions, _OBSERVERS, forward_ad):
        return False
    matmul._torchdynamo_inline = matmul_in_python  # what torch.compile looks into in its place
    for kind in _PLAIN:
        learn_quick(kind, calls.torch_product_without_autograd)
    return True


def _empty(sizes, strides, dtype):
    return torch.empty(sizes, dtype=dtype, device="cuda")


_is_quick = _learn_quick()


def is_lazy(tensor):
    """Whether its elements are others than those in its memory: negated when they are read, or zeros that take no memory."""
    return tensor.is_neg() or tensor._is_zerotensor()


def is_plain(a, b, out):
    """Whether nobody but the library has to know of the call: no autograd, compiler, mode or transform, and no subclass."""
    if _is_compiling() or forward_ad._current_level >= 0 or any(ask() for ask in _OBSERVERS):
        return False
    tensors = (a, b) if out is None else (a, b, out)
    if any(type(tensor) not in _PLAIN or is_lazy(tensor) for tensor in tensors):
        return False
    return not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors))


def on_device(number):
    """A context in which this CUDA device is the current one."""
    return contextlib.nullcontext() if torch._C._cuda_getDevice() == number else torch.cuda.device(number)


def multiply(a, b, out, alpha, beta, precision, level):
    if is_plain(a, b, out):
        return _multiply_in_python(a, b, out, alpha, beta, precision, level)
    require_kind(torch.Tensor, **named(a, b, out))
    from . import torch as own

    if out is not None:
        return own.multiply_into(a, b, out, alpha, beta, precision, level)
    if beta != 0:
        raise ArgumentError(f"beta is {beta} and there is no out to multiply by it")
    return own.matmul(a, b, alpha=alpha, precision=precision, level=level)


def multiply_plain(a, b, out, alpha, beta, precision, level):
    """The call itself on tensors, whether they require gradients or not."""
    result = calls.torch_product(a, b, out, alpha, beta, precision, level) if _is_quick else None
    return _multiply_in_python(a, b, out, alpha, beta, precision, level) if result is None else result


def as_blas_has_it(tensor):
    """PyTorch's products take any strides: a copy of what BLAS does not."""
    return tensor if fits(tensor.shape, tensor.stride()) else tensor.contiguous()


def require_dense(**tensors):
    """Raises unless all have elements that the library multiplies, in memory of the device of `a`."""
    device = tensors["a"].device
    for name, tensor in tensors.items():
        if tensor.dtype not in ELEMENTS_OF:
            refuse_elements(name, tensor.dtype)
        if tensor.layout is not torch.strided or tensor.is_nested:
            raise ArrayTypeError(f"{name} is {'nested' if tensor.is_nested else tensor.layout}; it must be dense")
        if tensor.device != device:
            raise ArgumentError(f"{name} is on {tensor.device}; a is on {device}")


def require_device(device):
    """Raises unless the library multiplies there."""
    if device.type not in ("cpu", "cuda"):
        raise ArgumentError(f"a is on {device}; it must be on a CPU or on CUDA")
    if device.type == "cuda":
        require_cuda()


def _multiply_in_python(a, b, out, alpha, beta, precision, level):
    tensors = named(a, b, out)
    require_kind(torch.Tensor, **tensors)
    device = a.device
    require_dense(**tensors)
    require_device(device)
    number = a.get_device()
    layout = None if out is None else (out.shape, out.stride())
    elements = ELEMENTS_OF[a.dtype], ELEMENTS_OF[b.dtype], "float32" if out is None else ELEMENTS_OF[out.dtype]
    call = call_for(a.shape, a.stride(), b.shape, b.stride(), layout, elements, False, alpha, beta, precision, level)
    result = a.new_empty(call.shape, dtype=torch.float32) if out is None else out
    try:
        addresses = a.data_ptr(), b.data_ptr(), result.data_ptr()
        if out is not None:
            increment_version(out)  # autograd then knows of gradients that would need what was there before
    except RuntimeError as error:  # it comes from a transform of torch.func that has ended
        raise ArgumentError(f"a tensor's memory cannot be used: {error}") from None
    if device.type == "cpu":
        run_on_host(call, *addresses)
        return result
    with on_device(number):
        run_on_stream(call, torch._C._cuda_getCurrentRawStream(number), number, *addresses)
    return result
