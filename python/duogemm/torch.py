"""duogemm in PyTorch: an operator for autograd and torch.compile, a linear layer, and a context in which PyTorch's own products go there.

    import duogemm.torch

    c = duogemm.torch.matmul(a, b)
    c = duogemm.torch.grouped_mm(tokens, experts, offs=ends)
    layer = duogemm.torch.Linear(1024, 4096, precision="f16x3")
    with duogemm.torch.enabled():
        loss = model(x).sum()
        loss.backward()
"""

import math

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import register_flop_formula

from ._grouped import multiply_groups, require_groups, rows_of_groups
from ._layout import is_scalar, number, result_shape, words_to_numbers
from ._library import ArgumentError
from ._matmul import Level, Precision, learn, require_kind
from ._prepared import prepare
from ._torch import ELEMENTS_OF, as_blas_has_it, is_lazy, is_plain, multiply, multiply_plain

__all__ = ["Linear", "enabled", "grouped_mm", "matmul"]

# A compiler that looks into duogemm.matmul then finds nothing to import.
learn(torch.Tensor, multiply)
learn(torch.nn.Parameter, multiply)

# What PyTorch knows of the products: everything but a plain call goes through these, so that derivatives, transforms, compilers and
# modes find what they need.
_library = torch.library.Library("duogemm", "DEF")
for _signature in (
    "matmul(Tensor a, Tensor b, float alpha=1.0, {words}) -> Tensor",
    "matmul_out(Tensor a, Tensor b, Tensor(a!) out, float alpha=1.0, float beta=0.0, {words}) -> ()",
    "grouped_mm(Tensor a, Tensor b, Tensor offs, {words}) -> Tensor",
    "grouped_outer(Tensor a, Tensor b, Tensor offs, {words}) -> Tensor",
):
    _words = "str precision='fp32', str level='run_to_run'"
    _library.define(_signature.format(words=_words), tags=(torch.Tag.pt2_compliant_tag,))
_product, _product_into = torch.ops.duogemm.matmul, torch.ops.duogemm.matmul_out


def _compute(a, b, alpha=1.0, precision="fp32", level="run_to_run"):
    return multiply_plain(a, b, None, alpha, 0, precision, level)


def _compute_into(a, b, out, alpha=1.0, beta=0.0, precision="fp32", level="run_to_run"):
    multiply_plain(a, b, out, alpha, beta, precision, level)


def _shape_alone(a, b, alpha=1.0, precision="fp32", level="run_to_run"):
    return a.new_empty(result_shape(tuple(a.shape), tuple(b.shape)), dtype=torch.float32)


def _nothing(*arguments, **named):
    """What matmul_out does to tensors without elements."""


def _mapped_first(tensor, dimension, is_vector, rank):
    """With the dimension that vmap maps, if any, before the batches of a matrix, which are as many as the rank leaves."""
    if dimension is None:
        return tensor
    # Only the first dimension leaves rows or columns contiguous for certain.
    moved = tensor.movedim(dimension, 0).contiguous() if dimension != 0 else tensor
    return moved[(slice(None), *[None] * (rank - moved.dim() + 1 - is_vector))]


def _mapped(info, dimensions, a, b, *rest):
    ranks = [tensor.dim() - (dimension is not None) for tensor, dimension in zip((a, b), dimensions)]
    a_is_vector, b_is_vector = (rank == 1 for rank in ranks)
    rank = max(2, *ranks)
    rows = _mapped_first(a, dimensions[0], a_is_vector, rank)
    columns = _mapped_first(b, dimensions[1], b_is_vector, rank)
    product = _product(rows.unsqueeze(-2) if a_is_vector else rows, columns.unsqueeze(-1) if b_is_vector else columns, *rest)
    product = product.squeeze(-2) if a_is_vector else product
    return product.squeeze(-1) if b_is_vector else product, 0


class _Product(torch.autograd.function._SingleLevelFunction):
    """The derivatives of a product, of any order and in both directions. torch.func has several levels of them, and comes here for
    each of them in turn."""

    @staticmethod
    def forward(a, b, *rest):
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True), torch._C._AutoDispatchBelowAutograd():  # for the levels below
            return _product(a, b, *rest)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, *ctx.rest = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, gradient):
        a, b = ctx.saved_tensors
        if gradient is None:
            return (None,) * 5
        # Vectors as the matrices that they are multiplied as.
        rows = a.unsqueeze(0) if a.dim() == 1 else a
        columns = b.unsqueeze(-1) if b.dim() == 1 else b
        gradient = gradient.unsqueeze(-1) if b.dim() == 1 else gradient
        gradient = gradient.unsqueeze(-2) if a.dim() == 1 else gradient
        gradient = gradient.contiguous()  # an expanded scalar, as sum() gives it, has strides of 0
        to_a = to_b = None
        if ctx.needs_input_grad[0]:
            to_a = _product(gradient, columns.mT, *ctx.rest).sum_to_size(rows.shape).reshape(a.shape).to(a.dtype)
        if ctx.needs_input_grad[1]:
            to_b = _product(rows.mT, gradient, *ctx.rest).sum_to_size(columns.shape).reshape(b.shape).to(b.dtype)
        return to_a, to_b, None, None, None

    @staticmethod
    def jvp(ctx, to_a, to_b, *_):
        a, b = ctx.saved_tensors
        if to_a is None or to_b is None:
            return _product(a, to_b.contiguous(), *ctx.rest) if to_a is None else _product(to_a.contiguous(), b, *ctx.rest)
        return _product(to_a.contiguous(), b, *ctx.rest) + _product(a, to_b.contiguous(), *ctx.rest)


def _differentiated(*tensors):
    """Whether a derivative is wanted, in either direction."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return True
    return any(forward_ad.unpack_dual(tensor, level=0).tangent is not None for tensor in tensors)  # there is but one level


def _with_derivatives(a, b, *rest):
    if _differentiated(a, b):
        with enable_single_level_autograd_function():
            return _Product.apply(a, b, *rest)
    with torch._C._AutoDispatchBelowAutograd():
        return _product(a, b, *rest)


def _without_derivatives(a, b, out, *rest):
    if _differentiated(a, b, out):
        _refuse_out()
    if is_lazy(out):
        raise ArgumentError("out is negated lazily, or of zeros that take no memory; it must be what its memory holds (resolve_neg copies)")
    with torch._C._AutoDispatchBelowAutograd():
        _product_into(a, b, out, *rest)


def _refuse_out(*arguments):
    raise ArgumentError("out cannot be given where autograd or a transform of torch.func takes part")


def _zeros_in_memory(product):
    """The product, where an operand is zeros that take no memory. PyTorch would give them a single one, for all rows and columns."""

    def call(a, b, *rest):
        operands = (torch.zeros(x.shape, dtype=x.dtype, device=x.device) if x._is_zerotensor() else x for x in (a, b))
        return product(*operands, *rest)

    return call


_library.impl("matmul", _compute, "CompositeExplicitAutograd")
_library.impl("matmul_out", _compute_into, "CompositeExplicitAutograd")
torch.library.register_fake("duogemm::matmul", _shape_alone, lib=_library)
torch.library.register_fake("duogemm::matmul_out", _nothing, lib=_library)
_library.impl("matmul", _with_derivatives, "Autograd")
_library.impl("matmul_out", _without_derivatives, "Autograd")
_library.impl("matmul", _zeros_in_memory(_product), "ZeroTensor")
_library.impl("matmul_out", _zeros_in_memory(_product_into), "ZeroTensor")
torch.library.register_vmap("duogemm::matmul", _mapped, lib=_library)
_library.impl("matmul_out", _refuse_out, "FuncTorchBatched")


@register_flop_formula([_product, _product_into])
def _operations(a_shape, b_shape, *_, **named):
    return 2 * math.prod(result_shape(tuple(a_shape), tuple(b_shape))) * a_shape[-1]


def matmul(
    a: torch.Tensor, b: torch.Tensor, *, alpha: float = 1.0, precision: Precision = "fp32", level: Level = "run_to_run"
) -> torch.Tensor:
    """alpha * (a @ b) by duogemm, as an operator that autograd and torch.compile know. See duogemm.matmul."""
    require_kind(torch.Tensor, a=a, b=b)
    return _product(a, b, number("alpha", alpha), precision, level)


def _groups_of(a, b, offs, precision="fp32", level="run_to_run"):
    require_groups(a, b, offs)
    return multiply_groups(a, b, offs, precision, level)


def _shape_of_groups(a, b, offs, precision="fp32", level="run_to_run"):
    require_groups(a, b, offs)
    return a.new_empty((a.shape[0], b.shape[2]), dtype=torch.float32)


def _keep_groups(ctx, inputs, output):
    a, b, offs, *ctx.words = inputs
    ctx.save_for_backward(a, b, offs)


def _derivatives_of_groups(ctx, gradient):
    a, b, offs = ctx.saved_tensors
    gradient = gradient.contiguous()
    to_a = to_b = None
    if ctx.needs_input_grad[0]:
        belongs = torch.arange(a.shape[0], device=a.device) < offs[-1:]  # to any group; to none where there are no groups
        product = torch.ops.duogemm.grouped_mm(gradient, b.mT, offs, *ctx.words)
        to_a = torch.where(belongs.unsqueeze(-1), product, 0).to(a.dtype) if len(offs) > 0 else torch.zeros_like(a)
    if ctx.needs_input_grad[1]:
        to_b = torch.ops.duogemm.grouped_outer(a, gradient, offs, *ctx.words).to(b.dtype)
    return to_a, to_b, None, None, None


def _outer_of_groups(a, b, offs, precision="fp32", level="run_to_run"):
    """The rows of a, transposed, times those of b, for each group."""
    product = a.new_zeros((offs.shape[0], a.shape[1], b.shape[1]), dtype=torch.float32)
    a, b = as_blas_has_it(a), as_blas_has_it(b)
    for i, (begin, end) in enumerate(rows_of_groups(offs)):
        if end > begin:
            multiply_plain(a[begin:end].mT, b[begin:end], product[i], 1.0, 0.0, precision, level)
    return product


def _shape_of_outer(a, b, offs, precision="fp32", level="run_to_run"):
    return a.new_empty((offs.shape[0], a.shape[1], b.shape[1]), dtype=torch.float32)


_library.impl("grouped_mm", _groups_of, "CompositeExplicitAutograd")
torch.library.register_fake("duogemm::grouped_mm", _shape_of_groups, lib=_library)
torch.library.register_autograd("duogemm::grouped_mm", _derivatives_of_groups, setup_context=_keep_groups, lib=_library)


_library.impl("grouped_outer", _outer_of_groups, "CompositeExplicitAutograd")
torch.library.register_fake("duogemm::grouped_outer", _shape_of_outer, lib=_library)


@register_flop_formula(torch.ops.duogemm.grouped_mm)
def _operations_of_groups(a_shape, b_shape, *_, **named):
    return 2 * math.prod(a_shape) * b_shape[-1]


def grouped_mm(
    a: torch.Tensor, b: torch.Tensor, *, offs: torch.Tensor, precision: Precision = "fp32", level: Level = "run_to_run"
) -> torch.Tensor:
    """Consecutive rows of a, each group of them times a matrix of its own, as tokens are by the weights of their experts.

    As torch.nn.functional.grouped_mm has it, in FP32: rows offs[i - 1] to offs[i] of the result are those of a @ b[i].

    Parameters
    ----------
    a : (rows, k); b : (groups, k, n)
        Of float32, bfloat16 or float16, on one device.
    offs : (groups,)
        The ends of the groups, of int32, on the same device. They ascend, and none is above the number of rows. On CUDA nothing waits
        for them, and the call can be captured.
    precision, level
        As in duogemm.matmul.

    Returns
    -------
    (rows, n) of float32. Rows from offs[-1] on have no meaning.

    Its gradient for b takes a product for each group, and waits for offs; that for a does not.
    """
    require_kind(torch.Tensor, a=a, b=b, offs=offs)
    return torch.ops.duogemm.grouped_mm(a, b, offs, precision, level)


def multiply_into(a, b, out, alpha, beta, precision, level):
    """out <- alpha * (a @ b) + beta * out, as an operator. Answers out."""
    _product_into(a, b, out, number("alpha", alpha), number("beta", beta), precision, level)
    return out


class Linear(torch.nn.Linear):
    """torch.nn.Linear that duogemm computes, with a result of the input's type.

    Where no gradient is wanted, the terms of a weight on CUDA are made once and kept, in f16x3 as long as a weight of float32, in bf16x6
    half as long again. They are made anew when the weight has changed, except through `weight.data`, of which PyTorch keeps no count:
    call release() then. A CUDA graph keeps the terms that there are when it is captured, which takes a call before; a later call outside
    of it brings them up to date.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device=None, dtype=None, *, precision: Precision = "f16x3"
    ):
        super().__init__(in_features, out_features, bias, device, dtype)
        words_to_numbers(precision, "run_to_run")
        self.precision = precision
        self._prepared = None

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if self._is_plain(input):
            prepared = prepare(self._prepared, self.weight, self.precision)
            if prepared is not None:
                self._prepared = prepared
                rows = input.reshape(-1, self.in_features).contiguous()
                product = prepared.multiply(rows, self.weight).view(*input.shape[:-1], self.out_features)
                return self._finished(product, input)
        rows = as_blas_has_it(input) if input.dim() > 1 else input.contiguous()
        return self._finished(matmul(rows, self.weight.mT, precision=self.precision), input)

    def release(self):
        """Gives the memory of the weight's terms back, until the next call. No CUDA graph may read them any more."""
        self._prepared = None

    @property
    def prepared_bytes(self) -> int:
        """How much of the device's memory the weight's terms take."""
        return 0 if self._prepared is None else self._prepared.nbytes

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, precision={self.precision!r}"

    def _is_plain(self, input):
        """Whether terms may be kept for it: a weight that is there to stay, and nobody else who looks on."""
        return (type(self.weight) is torch.nn.Parameter and is_plain(input, self.weight, None) and input.device == self.weight.device
                and input.dtype in ELEMENTS_OF and input.dim() > 0 and input.shape[-1] == self.in_features)

    def _finished(self, product, input):
        return (product if self.bias is None else product + self.bias).to(input.dtype)

    def _apply(self, *arguments, **named):
        self.release()  # the weight may go elsewhere
        return super()._apply(*arguments, **named)

    def __getstate__(self):
        return {**self.__dict__, "_prepared": None}


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
        dimensions, own = _PRODUCTS.get(function, (0, None))
        if own and all(map(is_scalar, named.values())) and all(map(_is_ours, arguments)) and _fit_together(dimensions, *arguments):
            return own(self._words, *arguments, **named)
        return function(*arguments, **named)


def _is_ours(tensor):
    """Whether there is no more to it than elements of float32 in memory."""
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.dtype is torch.float32
            and tensor.layout is torch.strided and tensor.device.type in ("cpu", "cuda")
            and not (is_lazy(tensor) or tensor.is_nested))


def _fit_together(dimensions, *tensors):
    """Whether PyTorch multiplies tensors of these shapes on these devices: two of them, or what is added and two."""
    *added, a, b = tensors
    if not a.dim() == b.dim() == dimensions or a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        return False
    return all(tensor.device == a.device for tensor in tensors) and all(_expands(c.shape, (*a.shape[:-1], b.shape[-1])) for c in added)


def _expands(shape, wanted):
    return len(shape) <= len(wanted) and all(x in (1, y) for x, y in zip(reversed(shape), reversed(wanted)))


def _multiply(words, a, b):
    a, b = as_blas_has_it(a), as_blas_has_it(b)
    if torch._C._len_torch_dispatch_stack():  # other modes, which see operators
        return _product(a, b, 1.0, *words)
    return multiply_plain(a, b, None, 1, 0, *words)


def _multiply_add(words, c, a, b, *, beta=1, alpha=1):
    shape = (*a.shape[:-1], b.shape[-1])
    out = a.new_empty(shape) if beta == 0 else c.expand(shape).clone(memory_format=torch.contiguous_format)
    a, b = as_blas_has_it(a), as_blas_has_it(b)
    if torch._C._len_torch_dispatch_stack():
        return multiply_into(a, b, out, alpha, beta, *words)
    return multiply_plain(a, b, out, alpha, beta, *words)


# By the operator of PyTorch: how many dimensions its operands have, and what multiplies them here.
_PRODUCTS = {
    torch.ops.aten.mm.default: (2, _multiply),
    torch.ops.aten.bmm.default: (3, _multiply),
    torch.ops.aten.addmm.default: (2, _multiply_add),
    torch.ops.aten.baddbmm.default: (3, _multiply_add),
}
