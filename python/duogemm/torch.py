"""duogemm in PyTorch: an operator for autograd and torch.compile, and a context in which PyTorch's own products go there.

    import duogemm.torch

    c = duogemm.torch.matmul(a, b)
    with duogemm.torch.enabled():
        loss = model(x).sum()
        loss.backward()
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ._layout import fits, result_shape, words_to_numbers
from ._matmul import Level, Precision, learn, number, require_kind
from ._torch import multiply, multiply_plain

__all__ = ["enabled", "matmul"]

# A compiler that looks into duogemm.matmul then finds nothing to import.
learn(torch.Tensor, multiply)
learn(torch.nn.Parameter, multiply)


@torch.library.custom_op("duogemm::matmul", mutates_args=())
def _product(a: torch.Tensor, b: torch.Tensor, alpha: float = 1.0, precision: str = "fp32", level: str = "run_to_run") -> torch.Tensor:
    return multiply_plain(a, b, None, alpha, 0, precision, level)


@_product.register_fake
def _(a, b, alpha=1.0, precision="fp32", level="run_to_run"):
    return a.new_empty(result_shape(tuple(a.shape), tuple(b.shape)))


def _keep(ctx, inputs, output):
    a, b, alpha, precision, level = inputs
    ctx.save_for_backward(a, b)
    ctx.rest = (alpha, precision, level)


def _sum_to(gradient, shape):
    """Adds up along what was broadcast."""
    extra = gradient.dim() - len(shape)
    along = [*range(extra), *(i + extra for i, size in enumerate(shape) if size == 1 and gradient.shape[i + extra] != 1)]
    return gradient.sum(dim=along, keepdim=True).reshape(shape) if along else gradient


def _gradients(ctx, gradient):
    a, b = ctx.saved_tensors
    # Vectors as the matrices that they are multiplied as.
    rows = a.unsqueeze(0) if a.dim() == 1 else a
    columns = b.unsqueeze(-1) if b.dim() == 1 else b
    gradient = gradient.unsqueeze(-1) if b.dim() == 1 else gradient
    gradient = gradient.unsqueeze(-2) if a.dim() == 1 else gradient
    gradient = gradient.contiguous()  # an expanded scalar, as sum() gives it, has strides of 0
    to_a = to_b = None
    if ctx.needs_input_grad[0]:
        to_a = _sum_to(_product(gradient, columns.mT, *ctx.rest), rows.shape).reshape(a.shape)
    if ctx.needs_input_grad[1]:
        to_b = _sum_to(_product(rows.mT, gradient, *ctx.rest), columns.shape).reshape(b.shape)
    return to_a, to_b, None, None, None


_product.register_autograd(_gradients, setup_context=_keep)


def matmul(
    a: torch.Tensor, b: torch.Tensor, *, alpha: float = 1.0, precision: Precision = "fp32", level: Level = "run_to_run"
) -> torch.Tensor:
    """alpha * (a @ b) by duogemm, as an operator that autograd and torch.compile know. See duogemm.matmul."""
    require_kind(torch.Tensor, a=a, b=b)
    return torch.ops.duogemm.matmul(a, b, number("alpha", alpha), precision, level)


class enabled(TorchDispatchMode):
    """A context in which duogemm multiplies for mm, addmm, bmm, baddbmm and all that comes down to them, such as linear layers,
    matmul and their gradients: those of dense float32 tensors on a CPU or on CUDA. All else is PyTorch's, as it was.
    """

    def __init__(self, precision: Precision = "fp32", level: Level = "run_to_run"):
        super().__init__()
        self._words = (precision, level)
        words_to_numbers(*self._words)  # a word that is not known is refused now, not at the first product

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        named = named or {}
        own = _PRODUCTS.get(function)
        if own is not None and all(map(_is_ours, arguments)):
            return own(self._words, *arguments, **named)
        return function(*arguments, **named)


def _is_ours(tensor):
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.dtype is torch.float32
            and tensor.layout is torch.strided and tensor.device.type in ("cpu", "cuda") and not tensor.is_neg())


def _as_blas_has_it(tensor):
    """PyTorch's products take any strides: a copy of what BLAS does not."""
    return tensor if fits(tensor.shape, tensor.stride()) else tensor.contiguous()


def _multiply(words, a, b):
    return multiply_plain(_as_blas_has_it(a), _as_blas_has_it(b), None, 1, 0, *words)


def _multiply_add(words, c, a, b, *, beta=1, alpha=1):
    shape = result_shape(tuple(a.shape), tuple(b.shape))
    if beta == 0:
        out = a.new_empty(shape)
    else:
        out = c.expand(shape).clone(memory_format=torch.contiguous_format)
    return multiply_plain(_as_blas_has_it(a), _as_blas_has_it(b), out, alpha, beta, *words)


_PRODUCTS = {
    torch.ops.aten.mm.default: _multiply,
    torch.ops.aten.bmm.default: _multiply,
    torch.ops.aten.addmm.default: _multiply_add,
    torch.ops.aten.baddbmm.default: _multiply_add,
}
