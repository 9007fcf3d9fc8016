"""PyTorch's tensors, the operator, and PyTorch's own products within duogemm.torch.enabled."""

import numpy
import pytest
from cases import SHAPES, STORED
from conftest import error_bound, expect_product, has_cuda

import duogemm

torch = pytest.importorskip("torch", exc_type=ImportError)

import duogemm.torch  # noqa: E402


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def device(request):
    """Both kinds of memory, where there are devices for them."""
    if request.param == "cuda":
        if not torch.cuda.is_available() or not has_cuda():
            pytest.skip("no CUDA device was found")
    else:
        request.getfixturevalue("host_device")
    return request.param


@pytest.fixture(scope="module")
def tensor(device, random):
    """Makes a random tensor of a shape."""
    return lambda *shape, **named: torch.from_numpy(random(*shape)).to(device).requires_grad_(named.get("grad", False))


def host(value):
    return value.detach().cpu().numpy()


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes(tensor, shapes):
    a, b = (tensor(*shape) for shape in shapes)
    expect_product(host(duogemm.matmul(a, b)), host(a), host(b))


@pytest.mark.parametrize("stored", STORED)
def test_views(tensor, stored):
    shape_of, view = STORED[stored]
    a, b, out = (view(tensor(*shape_of(3, *shape))) for shape in ((6, 5), (5, 7), (6, 7)))
    assert duogemm.matmul(a, b, out=out, alpha=2) is out
    expect_product(host(out), host(a), host(b), 2)


def test_short_way(tensor, device, monkeypatch):
    """Usual products are looked at in C alone."""
    from duogemm import _torch

    if device == "cpu" or not _torch._is_quick:
        pytest.skip("it needs CUDA and DLPack's exchange functions, which PyTorch has from 2.10 on")
    monkeypatch.setattr(_torch, "call_for", None)
    a, b, out = tensor(60, 50), tensor(50, 70), tensor(60, 70)
    expect_product(host(duogemm.matmul(a, b)), host(a), host(b))
    expect_product(host(duogemm.matmul(a.T.contiguous().T, b, out=out, precision="f16x3")), host(a), host(b))
    before = host(out)
    duogemm.matmul(a, b, out=out, alpha=0.5, beta=-1)
    assert numpy.allclose(host(out), 0.5 * (host(a) @ host(b)) - before, rtol=1e-4, atol=1e-4)


def test_stream(tensor, device):
    if device == "cpu":
        pytest.skip("streams are CUDA's")
    a, b = tensor(2048, 2048), tensor(2048, 2048)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = duogemm.matmul(duogemm.matmul(a, b), b)
    stream.synchronize()
    assert torch.allclose(result.double(), a.double() @ b.double() @ b.double(), rtol=1e-3, atol=1e-1)


def test_graph(tensor, device):
    if device == "cpu":
        pytest.skip("graphs are CUDA's")
    a, b, out = tensor(256, 256), tensor(256, 256), tensor(256, 256)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        duogemm.matmul(a, b, out=out)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        duogemm.matmul(a, b, out=out)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    expect_product(host(out), host(a), host(b))


def test_refusals(tensor, device):
    a = tensor(4, 4)
    out = tensor(4, 4)
    before = out.clone()
    for kind, words, arrays in (
        (TypeError, "b is of torch.float64", (a, a.double())),
        (TypeError, "b is numpy.ndarray", (a, numpy.ones((4, 4), "float32"))),
        (TypeError, "must be dense", (a, a.to_sparse())),
        (ValueError, "b is on meta", (a, a.to("meta"))),
        (ValueError, "inner dimensions", (a, tensor(5, 4))),
        (ValueError, "one must be 1", (tensor(8, 8)[::2, ::2], a)),
        (TypeError, "b is nested", (a, torch.nested.nested_tensor([tensor(4)]))),
        (ValueError, "out overlaps a", (out, a)),
    ):
        with pytest.raises(kind, match=words) as raised:
            duogemm.matmul(*arrays, out=out)
        assert isinstance(raised.value, duogemm.Error)
    assert torch.equal(out, before)
    with pytest.raises(TypeError, match="out is numpy.ndarray"):
        duogemm.matmul(a, a, out=numpy.ones((4, 4), "float32"))
    with pytest.raises(ValueError, match="autograd"):
        duogemm.matmul(tensor(4, 4, grad=True), a, out=out)
    with pytest.raises(ValueError, match="transform of torch.func"):
        torch.vmap(lambda row: duogemm.matmul(row, a, out=out[0]))(a)
    for alpha, words in (("2", "alpha is '2'"), (1j, "must be a real number"), (torch.tensor(2j), "must be a real number"), (1e40, "too large")):
        for function in (duogemm.matmul, duogemm.torch.matmul):
            with pytest.raises(ValueError, match=words):
                function(a, a, alpha=alpha)
    assert torch.equal(duogemm.matmul(a, a, alpha=torch.tensor(2.0)), 2 * duogemm.matmul(a, a))
    with pytest.raises(TypeError, match="b is numpy.ndarray"):
        duogemm.torch.matmul(a, host(a))
    with torch.no_grad():
        assert duogemm.matmul(tensor(4, 4, grad=True), a, out=out) is out


@pytest.mark.parametrize("shapes", [shapes for shapes in SHAPES if 0 not in shapes[0]], ids=str)
def test_gradients(tensor, shapes):
    a, b = (tensor(*shape, grad=True) for shape in shapes)
    weights = tensor(*(a @ b).shape)
    (duogemm.matmul(a, b) * weights).sum().backward()
    ours = a.grad.clone(), b.grad.clone()
    a.grad = b.grad = None
    ((a @ b) * weights).sum().backward()
    for own, theirs in zip(ours, (a.grad, b.grad)):
        assert torch.allclose(own, theirs, rtol=1e-4, atol=1e-5)


def test_operator(tensor):
    a, b = tensor(4, 5, grad=True), tensor(5, 6, grad=True)
    torch.library.opcheck(torch.ops.duogemm.matmul, (a, b))
    torch.library.opcheck(torch.ops.duogemm.matmul_out, (a.detach(), b.detach(), tensor(4, 6), 2.0, 0.5))


@pytest.mark.parametrize("function", [duogemm.matmul, duogemm.torch.matmul], ids=["duogemm.matmul", "duogemm.torch.matmul"])
def test_compiled(tensor, function):
    def step(a, b):
        return torch.relu(function(a, b)).sum()

    a, b = tensor(8, 5, grad=True), tensor(5, 6, grad=True)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    result = compiled(a, b)
    result.backward()
    ours = a.grad.clone()
    a.grad = None
    torch.relu(a @ b).sum().backward()
    assert torch.allclose(ours, a.grad, rtol=1e-4, atol=1e-5)


def products(monkeypatch):
    """Counts the library's calls."""
    from duogemm import torch as own

    counted, call = [], own.multiply_plain
    monkeypatch.setattr(own, "multiply_plain", lambda *arguments: (counted.append(arguments), call(*arguments))[1])
    return counted


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
every_way = pytest.mark.parametrize("product", WAYS.values(), ids=WAYS)
with_derivatives = pytest.mark.parametrize("product", [WAYS[name] for name in WAYS if name != "out"], ids=[name for name in WAYS if name != "out"])


@every_way
def test_make_fx(tensor, product):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, b, other = tensor(6, 5), tensor(5, 7), tensor(6, 5)
    traced = make_fx(lambda a, b: product(a, b))(a, b)
    assert "duogemm" in traced.code
    expect_product(host(traced(other, b)), host(other), host(b))


def test_enabled_around_make_fx(tensor):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, b, other = tensor(6, 5), tensor(5, 7), tensor(6, 5)
    with duogemm.torch.enabled():
        traced = make_fx(torch.mm)(a, b)
    assert "duogemm" in traced.code
    expect_product(host(traced(other, b)), host(other), host(b))


@every_way
@pytest.mark.filterwarnings("ignore")
def test_jit_trace(tensor, product):
    a, b, other = tensor(6, 5), tensor(5, 7), tensor(6, 5)
    expect_product(host(torch.jit.trace(product, (a, b), check_trace=False)(other, b)), host(other), host(b))


@every_way
def test_flop_counter(tensor, product):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        product(tensor(6, 5), tensor(5, 7))
    assert counter.get_total_flops() == 2 * 6 * 5 * 7


@every_way
def test_other_modes_see_the_product(tensor, product):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        """Keeps the operators' names."""

        seen = ""

        def __torch_dispatch__(self, function, types, arguments=(), named=None):
            self.seen += str(function) + " "
            return function(*arguments, **(named or {}))

    a, b = tensor(6, 5), tensor(5, 7)
    with Log() as log:
        result = product(a, b)
    assert "duogemm.matmul" in log.seen
    expect_product(host(result), host(a), host(b))


@pytest.mark.parametrize("product", [duogemm.matmul, duogemm.torch.matmul], ids=["duogemm.matmul", "duogemm.torch.matmul"])
def test_function_modes_see_the_product(tensor, product):
    class Log(torch.overrides.TorchFunctionMode):
        """Keeps the functions' names."""

        seen = ""

        def __torch_function__(self, function, types, arguments=(), named=None):
            self.seen += str(function) + " "
            return function(*arguments, **(named or {}))

    with Log() as log:
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
        expect_product(host(duogemm.matmul(a, b, out=out)), host(a), host(b))


@with_derivatives
def test_forward_mode(tensor, product):
    a, b, to_a, to_b = tensor(6, 5), tensor(5, 7), tensor(6, 5), tensor(5, 7)
    forward = torch.autograd.forward_ad
    for tangents in ((to_a, to_b), (to_a, None), (None, to_b)):
        with forward.dual_level():
            duals = [x if tangent is None else forward.make_dual(x, tangent) for x, tangent in zip((a, b), tangents)]
            found = forward.unpack_dual(product(*duals)).tangent
            expected = forward.unpack_dual(torch.mm(*duals)).tangent
        assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


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
    for found, expected in zip(apply(product), apply(torch.mm), strict=True):
        for x, y in zip(found, expected, strict=True):
            assert torch.allclose(x, y, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 1), (-1, 0)], ids=str)
@pytest.mark.parametrize("shapes", [shapes for shapes in SHAPES if 0 not in shapes[0]], ids=str)
def test_vmap(tensor, shapes, axes):
    operands = []
    for shape, axis in zip(shapes, axes):
        whole = list(shape)
        if axis is not None:
            whole.insert(axis if axis >= 0 else len(shape), 2)
        operands.append(tensor(*whole))
    found, expected = (torch.vmap(product, in_dims=axes)(*operands) for product in (duogemm.matmul, torch.matmul))
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@every_way
def test_lazy_tensors(tensor, product):
    a, b = tensor(6, 5), tensor(5, 7)
    zero = torch._efficientzerotensor((5, 7), device=a.device)
    assert torch.equal(product(a, zero), torch.zeros(6, 7, device=a.device))
    expect_product(host(product(a, torch._neg_view(b))), host(a), -host(b))


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
    checkpoint(lambda a: duogemm.matmul(a, b).relu().sum(), a, use_reentrant=False).backward()
    found = a.grad.clone()
    a.grad = None
    torch.mm(a, b).relu().sum().backward()
    assert torch.allclose(found, a.grad, rtol=1e-4, atol=1e-5)


def test_compiled_with_out(tensor):
    a, b, out = tensor(6, 5), tensor(5, 7), tensor(6, 7)

    def step(a, b, out):
        return duogemm.matmul(a, b, out=out, alpha=2, beta=0.5) + 1

    expected = 2 * (a @ b) + 0.5 * out
    result = torch.compile(step, fullgraph=True, backend="aot_eager")(a, b, out)
    assert torch.allclose(out, expected, rtol=1e-4, atol=1e-5)
    assert torch.allclose(result, expected + 1, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["mm", "addmm", "bmm", "baddbmm", "linear", "linear_batch", "matmul", "einsum"])
def test_enabled(tensor, monkeypatch, name):
    a, b, c, bias = tensor(6, 5), tensor(5, 7), tensor(6, 7), tensor(7)
    batch_a, batch_b, batch_c = tensor(3, 6, 5), tensor(3, 5, 7), tensor(3, 6, 7)
    call, exact = {
        "mm": (lambda: torch.mm(a[:, ::1], b), lambda: a.double() @ b.double()),
        "addmm": (lambda: torch.addmm(bias, a, b, beta=0.5, alpha=2), lambda: 0.5 * bias.double() + 2 * (a.double() @ b.double())),
        "bmm": (lambda: torch.bmm(batch_a, batch_b), lambda: batch_a.double() @ batch_b.double()),
        "baddbmm": (lambda: torch.baddbmm(batch_c, batch_a, batch_b), lambda: batch_c.double() + batch_a.double() @ batch_b.double()),
        "linear": (lambda: torch.nn.functional.linear(a, b.T.contiguous(), bias), lambda: a.double() @ b.double() + bias.double()),
        "linear_batch": (lambda: torch.nn.functional.linear(batch_a, b.T.contiguous()), lambda: batch_a.double() @ b.double()),
        "matmul": (lambda: a[::2, ::2] @ b[::2], lambda: a[::2, ::2].double() @ b[::2].double()),
        "einsum": (lambda: torch.einsum("bij,bjk->bik", batch_a, batch_b), lambda: batch_a.double() @ batch_b.double()),
    }[name]
    counted = products(monkeypatch)
    with duogemm.torch.enabled():
        result = call()
    assert len(counted) == 1
    assert torch.allclose(result.double(), exact(), rtol=1e-5, atol=1e-5)
    assert c.shape == (6, 7)


def test_enabled_leaves_the_rest(tensor, monkeypatch):
    counted = products(monkeypatch)
    a = tensor(4, 4).double()
    with duogemm.torch.enabled():
        assert torch.equal(a @ a, a.mm(a))
    assert not counted
    assert (tensor(4, 4) @ tensor(4, 4)).shape == (4, 4)
    assert not counted
    with pytest.raises(ValueError, match="precision is 'fp8'"):
        duogemm.torch.enabled("fp8")


def outcome(call):
    """The result, or what PyTorch says is wrong."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001: any is to be the same
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mm of 3-D", "mm of 1-D", "mm that does not fit", "bmm of two batches", "bmm of 2-D", "addmm of 3-D",
                                  "addmm with a wrong C", "addmm with beta 0 and a wrong C", "baddbmm with a wrong C", "addmm of a scalar",
                                  "alpha too large", "complex alpha", "float64", "meta", "sparse", "quantized", "nested", "negated", "zero",
                                  "subclass", "named", "mm of nothing"])
def test_enabled_leaves_what_is_not_plain(tensor, monkeypatch, name):
    class Mine(torch.Tensor):
        """Nothing more than a subclass."""

    a, b, c, x = tensor(5, 7), tensor(7, 3), tensor(5, 3), tensor(2, 5, 7)
    if name == "named" and not hasattr(a, "has_names"):
        pytest.skip("this PyTorch has no named tensors")
    call = {
        "mm of 3-D": lambda: torch.mm(x, b),
        "mm of 1-D": lambda: torch.mm(a[0], b),
        "mm that does not fit": lambda: torch.mm(a, c),
        "bmm of two batches": lambda: torch.bmm(tensor(1, 5, 7), tensor(4, 7, 3)),
        "bmm of 2-D": lambda: torch.bmm(a, b),
        "addmm of 3-D": lambda: torch.addmm(c, x, b),
        "addmm with a wrong C": lambda: torch.addmm(a, a, b),
        "addmm with beta 0 and a wrong C": lambda: torch.addmm(a, a, b, beta=0),
        "baddbmm with a wrong C": lambda: torch.baddbmm(tensor(3, 5, 3), x, tensor(2, 7, 3)),
        "addmm of a scalar": lambda: torch.addmm(c[0, 0].double(), a, b),
        "alpha too large": lambda: torch.addmm(c, a, b, alpha=1e40),
        "complex alpha": lambda: torch.addmm(c, a, b, alpha=1j),
        "float64": lambda: torch.mm(a.double(), b.double()),
        "meta": lambda: torch.mm(a.to("meta"), b.to("meta")).shape,
        "sparse": lambda: torch.mm(a.to_sparse(), b),
        "quantized": lambda: torch.mm(torch.quantize_per_tensor(a.cpu(), 0.1, 0, torch.qint8), b),
        "nested": lambda: torch.bmm(torch.nested.nested_tensor([a, a]), torch.nested.nested_tensor([b, b])).unbind()[0],
        "negated": lambda: torch.mm(torch._neg_view(a), b),
        "zero": lambda: torch.mm(torch._efficientzerotensor((5, 7), device=a.device), b) + 0,
        "subclass": lambda: torch.mm(a.as_subclass(Mine), b).as_subclass(torch.Tensor),
        "named": lambda: torch.mm(a.rename("x", "y"), b).names,
        "mm of nothing": lambda: torch.mm(a[:, :0], b[:0]),
    }[name]
    counted, expected = products(monkeypatch), outcome(call)
    with duogemm.torch.enabled():
        found = outcome(call)
    if isinstance(expected, torch.Tensor):
        assert type(found) is type(expected)
        assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    else:
        assert found == expected
    assert not counted or name in ("negated", "zero", "mm of nothing")  # those of which PyTorch has made plain ones


def test_training_step(device, monkeypatch):
    torch.manual_seed(26)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True).to(device)
    x = torch.randn(3, 5, 16, device=device)

    def step():
        layer.zero_grad()
        loss = layer(x).square().mean()
        loss.backward()
        return loss.item(), [parameter.grad.clone() for parameter in layer.parameters()]

    expected = step()
    counted = products(monkeypatch)
    with duogemm.torch.enabled():
        found = step()
    assert len(counted) >= 11  # four linear layers, and the gradients of all but the input
    assert abs(found[0] - expected[0]) < 1e-5 * abs(expected[0])
    assert all(torch.allclose(x, y, rtol=1e-3, atol=1e-6) for x, y in zip(found[1], expected[1]))


def test_error_bound(tensor):
    a, b = tensor(40, 3000), tensor(3000, 30)
    for precision in ("fp32", "bf16x6", "f16x3"):
        result = host(duogemm.matmul(a, b, precision=precision))
        exact = host(a).astype("float64") @ host(b)
        assert (abs(result - exact) <= error_bound(host(a), host(b))).all()
