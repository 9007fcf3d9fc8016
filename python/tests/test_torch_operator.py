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
def test_make_fx(array, product):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, b, other = array(6, 5), array(5, 7), array(6, 5)
    traced = make_fx(lambda a, b: product(a, b))(a, b)
    assert "duogemm" in traced.code
    expect_product(traced(other, b), other, b)


def test_enabled_around_make_fx(array):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, b, other = array(6, 5), array(5, 7), array(6, 5)
    with duogemm.torch.enabled():
        traced = make_fx(torch.mm)(a, b)
    assert "duogemm" in traced.code
    expect_product(traced(other, b), other, b)


@every_way
@pytest.mark.filterwarnings("ignore")
def test_jit_trace(array, product):
    a, b, other = array(6, 5), array(5, 7), array(6, 5)
    expect_product(torch.jit.trace(product, (a, b), check_trace=False)(other, b), other, b)


@every_way
def test_flop_counter(array, product):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        product(array(6, 5), array(5, 7))
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
def test_dispatch_modes_see_the_product(array, product):
    from torch.utils._python_dispatch import TorchDispatchMode

    a, b = array(6, 5), array(5, 7)
    with log_of(TorchDispatchMode, "__torch_dispatch__") as log:
        result = product(a, b)
    assert "duogemm.matmul" in log.seen
    expect_product(result, a, b)


@both
def test_function_modes_see_the_product(array, product):
    with log_of(torch.overrides.TorchFunctionMode, "__torch_function__") as log:
        product(array(6, 5), array(5, 7))
    assert "duogemm" in log.seen


@every_way
def test_fake_tensors(array, product):
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode() as mode:
        result = product(mode.from_tensor(array(6, 5)), mode.from_tensor(array(5, 7)))
    assert isinstance(result, FakeTensor)
    assert result.shape == (6, 7)


def test_version_of_out(array):
    p, a = torch.ones(4, 4, device=array(1).device, requires_grad=True), array(4, 4)
    h = 3 * p
    loss = (h * h).sum()
    duogemm.matmul(a, a, out=h.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inference_mode(array):
    a, b = array(6, 5), array(5, 7)
    with torch.inference_mode():
        out = torch.empty(6, 7, device=a.device)
        expect_product(duogemm.matmul(a, b, out=out), a, b)


@with_derivatives
def test_forward_mode(array, product):
    a, b, to_a, to_b = array(6, 5), array(5, 7), array(6, 5), array(5, 7)
    forward = torch.autograd.forward_ad
    for tangents in ((to_a, to_b), (to_a, None), (None, to_b)):
        with forward.dual_level():
            duals = [x if tangent is None else forward.make_dual(x, tangent) for x, tangent in zip((a, b), tangents)]
            found = forward.unpack_dual(product(*duals)).tangent
            expected = forward.unpack_dual(torch.mm(*duals)).tangent
        close(found, expected)


def test_forward_mode_refuses_out(array):
    a, forward = array(4, 4), torch.autograd.forward_ad
    out = array(4, 4)
    with forward.dual_level():
        assert duogemm.matmul(a, a, out=out) is out
        with pytest.raises(duogemm.ArgumentError, match="autograd"):
            duogemm.matmul(forward.make_dual(a, a), a, out=out)


@with_derivatives
@pytest.mark.parametrize("transform", ["jvp", "grad", "hessian", "jacrev", "jacfwd", "vmap", "vmap of grad", "gradient of jvp"])
def test_transforms(array, product, transform):
    func, a, b = torch.func, array(3, 4), array(4, 5)
    stacked_a, stacked_b, weights = array(3, 2, 4), array(4, 5, 2), array(3, 5)

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
def test_vmap(array, shapes, axes):
    operands = []
    for shape, axis in zip(shapes, axes):
        whole = list(shape)
        if axis is not None:
            whole.insert(axis if axis >= 0 else len(shape), 2)
        operands.append(array(*whole))
    found, expected = (torch.vmap(product, in_dims=axes)(*operands) for product in (duogemm.matmul, torch.matmul))
    close(found, expected)


@both
def test_functionalize(array, product):
    func, a, b = torch.func, array(6, 5), array(5, 7)
    expect_product(func.functionalize(lambda a: product(a, b))(a), a, b)
    found = func.functionalize(func.jacrev(lambda a: product(a, b)))(a)
    close(found, func.jacrev(lambda a: torch.mm(a, b))(a))


@pytest.mark.parametrize("transform", ["vmap", "jvp", "grad"])
def test_compiled_transforms(array, transform):
    func, a, b = torch.func, array(3, 5), array(5, 7)

    def step(product):
        return {
            "vmap": lambda a: func.vmap(lambda row: product(row[None], b))(a),
            "jvp": lambda a: func.jvp(lambda a: product(a, b), (a,), (a + 1,))[1],
            "grad": lambda a: func.grad(lambda a: product(a, b).square().sum())(a),
        }[transform]

    found = torch.compile(step(duogemm.torch.matmul), fullgraph=True, backend="aot_eager")(a)
    close(found, step(torch.mm)(a), atol=1e-4)


@every_way
def test_lazy_tensors(array, product):
    a, b = array(6, 5), array(5, 7)
    zero = torch._efficientzerotensor((5, 7), device=a.device)
    assert torch.equal(product(a, zero), torch.zeros(6, 7, device=a.device))
    expect_product(product(a, torch._neg_view(b)), a, -b)


def test_lazy_out(array):
    a = array(4, 4)
    for out in (torch._neg_view(array(4, 4)), torch._efficientzerotensor((4, 4), device=a.device)):
        with pytest.raises(duogemm.ArgumentError, match="out is negated lazily, or"):
            duogemm.matmul(a, a, out=out)


@with_derivatives
def test_zero_gradients(array, product):
    """As autograd makes them, of what a loss does not depend on in the end."""
    a, b = array(6, 5, grad=True), array(5, 7)
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        loss = forward.unpack_dual(product(forward.make_dual(a, torch._efficientzerotensor((6, 5), device=a.device)), b))
    assert loss.tangent is None or not loss.tangent.any()


def test_checkpoint(array):
    from torch.utils.checkpoint import checkpoint

    a, b = array(6, 5, grad=True), array(5, 7)
    loss = checkpoint(lambda a: duogemm.matmul(a, b).relu().sum(), a, use_reentrant=False)
    close(torch.autograd.grad(loss, a), torch.autograd.grad(torch.mm(a, b).relu().sum(), a))


def test_compiled_with_out(array):
    a, b, out = array(6, 5), array(5, 7), array(6, 7)

    def step(a, b, out):
        return duogemm.matmul(a, b, out=out, alpha=2, beta=0.5) + 1

    expected = 2 * (a @ b) + 0.5 * out
    result = torch.compile(step, fullgraph=True, backend="aot_eager")(a, b, out)
    close((out, result), (expected, expected + 1))


@pytest.mark.parametrize("shapes", NOT_EMPTY, ids=str)
def test_gradients(array, shapes):
    a, b = (array(*shape, grad=True) for shape in shapes)
    weights = array(*(a @ b).shape)
    ours, theirs = (torch.autograd.grad((product(a, b) * weights).sum(), (a, b)) for product in (duogemm.matmul, torch.matmul))
    close(ours, theirs)


def test_operator(array):
    a, b = array(4, 5, grad=True), array(5, 6, grad=True)
    torch.library.opcheck(torch.ops.duogemm.matmul, (a, b))
    torch.library.opcheck(torch.ops.duogemm.matmul_out, (a.detach(), b.detach(), array(4, 6), 2.0, 0.5))


@both
def test_compiled(array, product):
    def step(a, b):
        return torch.relu(product(a, b)).sum()

    a, b = array(8, 5, grad=True), array(5, 6, grad=True)
    loss = torch.compile(step, fullgraph=True, backend="aot_eager")(a, b)
    close(torch.autograd.grad(loss, (a, b)), torch.autograd.grad(torch.relu(a @ b).sum(), (a, b)))
