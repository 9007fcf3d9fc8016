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
        (ValueError, "b is negated lazily", (a, torch._neg_view(a))),
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
    with pytest.raises(ValueError, match="memory cannot be reached"):
        torch.vmap(lambda row: duogemm.matmul(row, a))(a)
    with pytest.raises(ValueError, match="alpha is 'x'"):
        duogemm.torch.matmul(a, a, alpha="x")
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
    torch.library.opcheck(torch.ops.duogemm.matmul, (a, b), test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


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
