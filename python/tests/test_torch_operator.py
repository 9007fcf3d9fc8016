"""The operators for PyTorch: derivatives in both directions, transforms, compilers, and modes that see what is done."""

import functools

import pytest
from cases import NOT_EMPTY
from conftest import expect_product

torch = pytest.importorskip("torch", exc_type=ImportError)

import duogemm.torch  # noqa: E402

close = functools.partial(torch.testing.assert_close, rtol=1e-4, atol=1e-5)


def into(a, b):
    return duogemm.matmul(a, b, out=a.new_empty(a.shape[0], b.shape[1]))


def within_enabled(function):
    """The function, in the context."""

    def call(*arguments):
        with duogemm.torch.enabled():
            return function(*arguments)

    return call


# Every way to a product of two matrices.
WAYS = {
    "duogemm.matmul": duogemm.matmul,
    "out": into,
    "duogemm.torch.matmul": duogemm.torch.matmul,
    "mm": within_enabled(torch.mm),
    "bmm": within_enabled(lambda a, b: torch.bmm(a[None], b[None])[0]),
    "addmm": within_enabled(lambda a, b: torch.addmm(torch.zeros_like(a[:1, :1]), a, b)),
}

def through(*names):
    return pytest.mark.parametrize("product", [WAYS[name] for name in names], ids=names)


every_way = through(*WAYS)
with_derivatives = through(*(name for name in WAYS if name != "out"))
both = through("duogemm.matmul", "duogemm.torch.matmul")


@every_way
def test_make_fx(tensor, product):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, b, other = tensor(6, 5), tensor(5, 7), tensor(6, 5)
    traced = make_fx(lambda a, b: product(a, b))(a, b)
    assert "duogemm" in traced.code
    expect_product(traced(other, b), other, b)


def test_enabled_around_make_fx(tensor):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, b, other = tensor(6, 5), tensor(5, 7), tensor(6, 5)
    with duogemm.torch.enabled():
        traced = make_fx(torch.mm)(a, b)
    assert "duogemm" in traced.code
    expect_product(traced(other, b), other, b)


@every_way
@pytest.mark.filterwarnings("ignore")
def test_jit_trace(tensor, product):
    a, b, other = tensor(6, 5), tensor(5, 7), tensor(6, 5)
    expect_product(torch.jit.trace(product, (a, b), check_trace=False)(other, b), other, b)


@every_way
def test_flop_counter(tensor, product):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        product(tensor(6, 5), tensor(5, 7))
    assert counter.get_total_flops() == 2 * 6 * 5 * 7


def log_of(kind, method):
    """A mode that keeps the names of what it sees."""

    class Log(kind):
        seen = ""

    def see(self, function, types, arguments=(), named=None):
        self.seen += str(function) + " "
        return function(*arguments, **(named or {}))

    setattr(Log, method, see)
    return Log()


@every_way
def test_dispatch_modes_see_the_product(tensor, product):
    from torch.utils._python_dispatch import TorchDispatchMode

    a, b = tensor(6, 5), tensor(5, 7)
    with log_of(TorchDispatchMode, "__torch_dispatch__") as log:
        result = product(a, b)
    assert "duogemm.matmul" in log.seen
    expect_product(result, a, b)


@both
def test_function_modes_see_the_product(tensor, product):
    with log_of(torch.overrides.TorchFunctionMode, "__torch_function__") as log:
        product(tensor(6, 5), tensor(5, 7))
    assert "duogemm" in log.seen


@every_way
def test_fake_tensors(tensor, product):
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode() as mode:
        result = product(mode.from_tensor(tensor(6, 5)), mode.from_tensor(tensor(5, 7)))
    assert isinstance(result, FakeTensor)
    assert result.shape == (6, 7)


def test_version_of_out(tensor):
    p, a = torch.ones(4, 4, device=tensor(1).device, requires_grad=True), tensor(4, 4)
    h = 3 * p
    loss = (h * h).sum()
    duogemm.matmul(a, a, out=h.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inference_mode(tensor):
    a, b = tensor(6, 5), tensor(5, 7)
    with torch.inference_mode():
        out = torch.empty(6, 7, device=a.device)
        expect_product(duogemm.matmul(a, b, out=out), a, b)


@with_derivatives
def test_forward_mode(tensor, product):
    a, b, to_a, to_b = tensor(6, 5), tensor(5, 7), tensor(6, 5), tensor(5, 7)
    forward = torch.autograd.forward_ad
    for tangents in ((to_a, to_b), (to_a, None), (None, to_b)):
        with forward.dual_level():
            duals = [x if tangent is None else forward.make_dual(x, tangent) for x, tangent in zip((a, b), tangents)]
            found = forward.unpack_dual(product(*duals)).tangent
            expected = forward.unpack_dual(torch.mm(*duals)).tangent
        close(found, expected)


def test_forward_mode_refuses_out(tensor):
    a, forward = tensor(4, 4), torch.autograd.forward_ad
    out = tensor(4, 4)
    with forward.dual_level():
        assert duogemm.matmul(a, a, out=out) is out
        with pytest.raises(duogemm.ArgumentError, match="autograd"):
            duogemm.matmul(forward.make_dual(a, a), a, out=out)


@with_derivatives
@pytest.mark.parametrize("transform", ["jvp", "grad", "hessian", "jacrev", "jacfwd", "vmap", "vmap of grad", "gradient of jvp"])
def test_transforms(tensor, product, transform):
    func, a, b = torch.func, tensor(3, 4), tensor(4, 5)
    stacked_a, stacked_b, weights = tensor(3, 2, 4), tensor(4, 5, 2), tensor(3, 5)

    def loss(product):
        return lambda a: (product(a, b) * weights).square().sum()

    apply = {
        "jvp": lambda product: func.jvp(product, (a, b), (a + 1, b.mT.contiguous().mT - 1)),
        "grad": lambda product: func.grad(loss(product))(a),
        "hessian": lambda product: func.hessian(loss(product))(a),
        "jacrev": lambda product: func.jacrev(product, argnums=(0, 1))(a, b),
        "jacfwd": lambda product: func.jacfwd(product, argnums=(0, 1))(a, b),
        "vmap": lambda product: func.vmap(product, in_dims=(1, 2))(stacked_a, stacked_b),
        "vmap of grad": lambda product: func.vmap(func.grad(loss(product)))(stacked_a.movedim(1, 0)),
        "gradient of jvp": lambda product: func.grad(lambda a: func.jvp(loss(product), (a,), (a.detach(),))[1])(a),
    }[transform]
    close(apply(product), apply(torch.mm), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 1), (-1, 0)], ids=str)
@pytest.mark.parametrize("shapes", NOT_EMPTY, ids=str)
def test_vmap(tensor, shapes, axes):
    operands = []
    for shape, axis in zip(shapes, axes):
        whole = list(shape)
        if axis is not None:
            whole.insert(axis if axis >= 0 else len(shape), 2)
        operands.append(tensor(*whole))
    found, expected = (torch.vmap(product, in_dims=axes)(*operands) for product in (duogemm.matmul, torch.matmul))
    close(found, expected)


@both
def test_functionalize(tensor, product):
    func, a, b = torch.func, tensor(6, 5), tensor(5, 7)
    expect_product(func.functionalize(lambda a: product(a, b))(a), a, b)
    found = func.functionalize(func.jacrev(lambda a: product(a, b)))(a)
    close(found, func.jacrev(lambda a: torch.mm(a, b))(a))


@pytest.mark.parametrize("transform", ["vmap", "jvp", "grad"])
def test_compiled_transforms(tensor, transform):
    func, a, b = torch.func, tensor(3, 5), tensor(5, 7)

    def step(product):
        return {
            "vmap": lambda a: func.vmap(lambda row: product(row[None], b))(a),
            "jvp": lambda a: func.jvp(lambda a: product(a, b), (a,), (a + 1,))[1],
            "grad": lambda a: func.grad(lambda a: product(a, b).square().sum())(a),
        }[transform]

    found = torch.compile(step(duogemm.torch.matmul), fullgraph=True, backend="aot_eager")(a)
    close(found, step(torch.mm)(a), atol=1e-4)


@every_way
def test_lazy_tensors(tensor, product):
    a, b = tensor(6, 5), tensor(5, 7)
    zero = torch._efficientzerotensor((5, 7), device=a.device)
    assert torch.equal(product(a, zero), torch.zeros(6, 7, device=a.device))
    expect_product(product(a, torch._neg_view(b)), a, -b)


def test_lazy_out(tensor):
    a = tensor(4, 4)
    for out in (torch._neg_view(tensor(4, 4)), torch._efficientzerotensor((4, 4), device=a.device)):
        with pytest.raises(duogemm.ArgumentError, match="out is negated lazily, or"):
            duogemm.matmul(a, a, out=out)


@with_derivatives
def test_zero_gradients(tensor, product):
    """As autograd makes them, of what a loss does not depend on in the end."""
    a, b = tensor(6, 5, grad=True), tensor(5, 7)
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        loss = forward.unpack_dual(product(forward.make_dual(a, torch._efficientzerotensor((6, 5), device=a.device)), b))
    assert loss.tangent is None or not loss.tangent.any()


def test_checkpoint(tensor):
    from torch.utils.checkpoint import checkpoint

    a, b = tensor(6, 5, grad=True), tensor(5, 7)
    loss = checkpoint(lambda a: duogemm.matmul(a, b).relu().sum(), a, use_reentrant=False)
    close(torch.autograd.grad(loss, a), torch.autograd.grad(torch.mm(a, b).relu().sum(), a))


def test_compiled_with_out(tensor):
    a, b, out = tensor(6, 5), tensor(5, 7), tensor(6, 7)

    def step(a, b, out):
        return duogemm.matmul(a, b, out=out, alpha=2, beta=0.5) + 1

    expected = 2 * (a @ b) + 0.5 * out
    result = torch.compile(step, fullgraph=True, backend="aot_eager")(a, b, out)
    close((out, result), (expected, expected + 1))


@pytest.mark.parametrize("shapes", NOT_EMPTY, ids=str)
def test_gradients(tensor, shapes):
    a, b = (tensor(*shape, grad=True) for shape in shapes)
    weights = tensor(*(a @ b).shape)
    ours, theirs = (torch.autograd.grad((product(a, b) * weights).sum(), (a, b)) for product in (duogemm.matmul, torch.matmul))
    close(ours, theirs)


def test_operator(tensor):
    a, b = tensor(4, 5, grad=True), tensor(5, 6, grad=True)
    torch.library.opcheck(torch.ops.duogemm.matmul, (a, b))
    torch.library.opcheck(torch.ops.duogemm.matmul_out, (a.detach(), b.detach(), tensor(4, 6), 2.0, 0.5))


@both
def test_compiled(tensor, product):
    def step(a, b):
        return torch.relu(product(a, b)).sum()

    a, b = tensor(8, 5, grad=True), tensor(5, 6, grad=True)
    loss = torch.compile(step, fullgraph=True, backend="aot_eager")(a, b)
    close(torch.autograd.grad(loss, (a, b)), torch.autograd.grad(torch.relu(a @ b).sum(), (a, b)))
