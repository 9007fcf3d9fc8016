"""PyTorch's tensors: on the current stream of their device, or on the host's memory."""

import torch

from ._cuda import require_cuda, run_on_stream
from ._errors import ArgumentError, ArrayTypeError
from ._layout import call_for
from ._library import calls
from ._matmul import learn_quick, matmul, matmul_in_python, require_kind
from ._numpy import run_on_host

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_FLOAT32, _DENSE = torch.float32, torch.strided
_is_tracing = torch.compiler.is_dynamo_compiling


def _learn_quick():
    """Whether this PyTorch lets C look at its tensors, by DLPack's exchange functions."""
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if calls is None or exchange is None or not torch.backends.cuda.is_built():
        return False
    empty = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", None) or _empty
    if not calls.know_torch(*_PLAIN, _FLOAT32, exchange, torch._C._cuda_getDevice, torch.is_grad_enabled, empty):
        return False
    matmul._torchdynamo_inline = matmul_in_python  # what torch.compile looks into in its place
    for kind in _PLAIN:
        learn_quick(kind, calls.torch_product_without_autograd)
    return True


def _empty(sizes, strides, dtype):
    return torch.empty(sizes, dtype=dtype, device="cuda")


_is_quick = _learn_quick()


def _check(a, b, out):
    tensors = {"a": a, "b": b} if out is None else {"a": a, "b": b, "out": out}
    require_kind(torch.Tensor, **tensors)
    device = a.device
    for name, tensor in tensors.items():
        if tensor.dtype is not torch.float32:
            raise ArrayTypeError(f"{name} is of {tensor.dtype}; it must be of torch.float32")
        if tensor.layout is not torch.strided or tensor.is_nested:
            raise ArrayTypeError(f"{name} is {'nested' if tensor.is_nested else tensor.layout}; it must be dense")
        if tensor.device != device:
            raise ArgumentError(f"{name} is on {tensor.device}; a is on {device}")
        if tensor.is_neg():
            raise ArgumentError(f"{name} is negated lazily (resolve_neg makes a copy)")
    if device.type not in ("cpu", "cuda"):
        raise ArgumentError(f"a is on {device}; it must be on a CPU or on CUDA")
    if device.type == "cuda":
        require_cuda()


def _is_plain(a, b, out):
    """Whether nobody but the library has to know of the call: no autograd, no compiler, no subclass."""
    if _is_tracing() or type(a) not in _PLAIN or type(b) not in _PLAIN:
        return False
    if not (a.requires_grad or b.requires_grad or getattr(out, "requires_grad", False)):
        return True
    return not torch.is_grad_enabled()


def _is_right(tensor, device):
    if tensor.dtype is not _FLOAT32 or tensor.layout is not _DENSE or tensor.get_device() != device:
        return False
    if tensor.is_neg() or tensor.is_nested:
        return False
    return device >= 0 or tensor.is_cpu  # others than CUDA's have no number either


def multiply(a, b, out, alpha, beta, precision, level):
    if _is_plain(a, b, out):
        return _multiply_in_python(a, b, out, alpha, beta, precision, level)
    require_kind(torch.Tensor, a=a, b=b)
    if out is not None:
        raise ArgumentError("out cannot be given where autograd or a compiler takes part")
    if beta != 0:
        raise ArgumentError(f"beta is {beta} and there is no out to multiply by it")
    from . import torch as own

    return own.matmul(a, b, alpha=alpha, precision=precision, level=level)


def multiply_plain(a, b, out, alpha, beta, precision, level):
    """The call itself on tensors, whether they require gradients or not."""
    result = calls.torch_product(a, b, out, alpha, beta, precision, level) if _is_quick else None
    return _multiply_in_python(a, b, out, alpha, beta, precision, level) if result is None else result


def _multiply_in_python(a, b, out, alpha, beta, precision, level):
    # What is right is only glanced at; _check finds words for what is not.
    device = a.get_device()
    if not (_is_right(a, device) and _is_right(b, device) and (out is None or _is_right(out, device))):
        _check(a, b, out)
    layout = None if out is None else (out.shape, out.stride())
    call = call_for(a.shape, a.stride(), b.shape, b.stride(), layout, 1, alpha, beta, precision, level)
    result = a.new_empty(call.shape) if out is None else out
    try:
        addresses = a.data_ptr(), b.data_ptr(), result.data_ptr()
    except RuntimeError as error:  # within vmap and others of torch.func
        raise ArgumentError(f"a tensor's memory cannot be reached: {error}") from None
    if device < 0:
        run_on_host(call, *addresses)
    elif torch._C._cuda_getDevice() == device:
        _run(call, device, addresses)
    else:
        with torch.cuda.device(device):
            _run(call, device, addresses)
    return result


def _run(call, device, addresses):
    run_on_stream(call, torch._C._cuda_getCurrentRawStream(device), device, *addresses)
