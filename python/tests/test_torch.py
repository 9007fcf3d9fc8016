"""PyTorch's tensors, and PyTorch's own products within duogemm.torch.enabled."""

import numpy
import pytest
from cases import StridedProducts, refused
from conftest import expect_product

torch = pytest.importorskip("torch", exc_type=ImportError)

import duogemm.torch  # noqa: E402


class TestProducts(StridedProducts):
    def module(self):
        from duogemm import _torch

        return _torch

    def narrow(self, array, word):
        return array.to(getattr(torch, word))

    def test_short_way(self, array, torch_device, monkeypatch):
        if torch_device == "cpu" or not self.module()._is_quick:
            pytest.skip("it needs CUDA and DLPack's exchange functions, which PyTorch has from 2.10 on")
        super().test_short_way(array, monkeypatch)


def test_gradients_of_elements_of_16_bits(array, torch_device):
    a, b = (array(6, 5, grad=True), array(5, 7, grad=True))
    narrow = a.detach().bfloat16().requires_grad_()
    duogemm.matmul(narrow, b).sin().sum().backward()
    assert narrow.grad.dtype is torch.bfloat16 and b.grad.dtype is torch.float32
    own = b.grad.clone()
    a, b = narrow.detach().float().requires_grad_(), b.detach().requires_grad_()
    torch.mm(a, b).sin().sum().backward()
    assert torch.allclose(narrow.grad.float(), a.grad, rtol=0.01, atol=0.01) and torch.allclose(own, b.grad, rtol=1e-3, atol=1e-4)


def test_stream(array, torch_device):
    if torch_device == "cpu":
        pytest.skip("streams are CUDA's")
    a, b = array(2048, 2048), array(2048, 2048)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = duogemm.matmul(duogemm.matmul(a, b), b)
    stream.synchronize()
    assert torch.allclose(result.double(), a.double() @ b.double() @ b.double(), rtol=1e-3, atol=1e-1)


def test_graph(array, torch_device):
    if torch_device == "cpu":
        pytest.skip("graphs are CUDA's")
    a, b, out = array(256, 256), array(256, 256), array(256, 256)
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
    expect_product(out, a, b)


def test_refusals(array, torch_device):
    a = array(4, 4)
    out = array(4, 4)
    numpys = numpy.ones((4, 4), "float32")
    refused(TypeError, "b is of torch.float64", a, a.double(), out=out)
    refused(TypeError, "b is numpy.ndarray", a, numpys, out=out)
    refused(TypeError, "b is numpy.ndarray", a, numpys, by=duogemm.torch.matmul)
    refused(TypeError, "out is numpy.ndarray", a, a, out=numpys)
    refused(TypeError, "must be dense", a, a.to_sparse(), out=out)
    refused(ValueError, "b is on meta", a, a.to("meta"), out=out)
    refused(ValueError, "inner dimensions", a, array(5, 4), out=out)
    refused(ValueError, "one must be 1", array(8, 8)[::2, ::2], a, out=out)
    refused(TypeError, "b is nested", a, torch.nested.nested_tensor([array(4)]), out=out)
    refused(ValueError, "out overlaps a", out, a, out=out)
    refused(ValueError, "autograd", array(4, 4, grad=True), a, out=out)
    refused(ValueError, "transform of torch.func", a, by=torch.vmap(lambda row: duogemm.matmul(row, a, out=out[0])))
    for alpha, words in (("2", "alpha is '2'"), (1j, "must be a real number"), (torch.tensor(2j), "must be a real number"), (1e40, "too large")):
        for function in (duogemm.matmul, duogemm.torch.matmul):
            refused(ValueError, words, a, a, by=function, alpha=alpha)
    assert torch.equal(duogemm.matmul(a, a, alpha=torch.tensor(2.0)), 2 * duogemm.matmul(a, a))
    with torch.no_grad():
        assert duogemm.matmul(array(4, 4, grad=True), a, out=out) is out


def products(monkeypatch):
    """Counts the library's calls."""
    from duogemm import torch as own

    counted, call = [], own.multiply_plain
    monkeypatch.setattr(own, "multiply_plain", lambda *arguments: (counted.append(arguments), call(*arguments))[1])
    return counted


@pytest.mark.parametrize("name", ["mm", "addmm", "bmm", "baddbmm", "linear", "linear_batch", "matmul", "einsum"])
def test_enabled(array, monkeypatch, name):
    a, b, bias = array(6, 5), array(5, 7), array(7)
    batch_a, batch_b, batch_c = array(3, 6, 5), array(3, 5, 7), array(3, 6, 7)
    call, operands = {
        "mm": (lambda a, b: torch.mm(a[:, ::1], b), (a, b)),
        "addmm": (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), (bias, a, b)),
        "bmm": (torch.bmm, (batch_a, batch_b)),
        "baddbmm": (torch.baddbmm, (batch_c, batch_a, batch_b)),
        "linear": (torch.nn.functional.linear, (a, b.T.contiguous(), bias)),
        "linear_batch": (torch.nn.functional.linear, (batch_a, b.T.contiguous())),
        "matmul": (torch.matmul, (a[::2, ::2], b[::2])),
        "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b), (batch_a, batch_b)),
    }[name]
    counted = products(monkeypatch)
    with duogemm.torch.enabled():
        result = call(*operands)
    assert len(counted) == 1
    assert torch.allclose(result.double(), call(*(operand.double() for operand in operands)), rtol=1e-5, atol=1e-5)


def test_enabled_leaves_the_rest(array, monkeypatch):
    counted = products(monkeypatch)
    a = array(4, 4).double()
    with duogemm.torch.enabled():
        assert torch.equal(a @ a, a.mm(a))
    assert not counted
    assert (array(4, 4) @ array(4, 4)).shape == (4, 4)
    assert not counted
    with pytest.raises(ValueError, match="precision is 'fp8'"):
        duogemm.torch.enabled("fp8")


def outcome(call):
    """The result, or what PyTorch says is wrong."""
    try:
        return call()
    except Exception as error:  # whatever it is, it is to be the same
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mm of 3-D", "mm of 1-D", "mm that does not fit", "bmm of two batches", "bmm of 2-D", "addmm of 3-D",
                                  "addmm with a wrong C", "addmm with beta 0 and a wrong C", "baddbmm with a wrong C", "addmm of a scalar",
                                  "alpha too large", "complex alpha", "float64", "meta", "sparse", "quantized", "nested", "negated", "zero",
                                  "subclass", "mm of nothing"])
def test_enabled_leaves_what_is_not_plain(array, monkeypatch, name):
    class Mine(torch.Tensor):
        """Nothing more than a subclass."""

    a, b, c, x = array(5, 7), array(7, 3), array(5, 3), array(2, 5, 7)
    call = {
        "mm of 3-D": lambda: torch.mm(x, b),
        "mm of 1-D": lambda: torch.mm(a[0], b),
        "mm that does not fit": lambda: torch.mm(a, c),
        "bmm of two batches": lambda: torch.bmm(array(1, 5, 7), array(4, 7, 3)),
        "bmm of 2-D": lambda: torch.bmm(a, b),
        "addmm of 3-D": lambda: torch.addmm(c, x, b),
        "addmm with a wrong C": lambda: torch.addmm(a, a, b),
        "addmm with beta 0 and a wrong C": lambda: torch.addmm(a, a, b, beta=0),
        "baddbmm with a wrong C": lambda: torch.baddbmm(array(3, 5, 3), x, array(2, 7, 3)),
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


def test_training_step(torch_device, monkeypatch):
    torch.manual_seed(26)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True).to(torch_device)
    x = torch.randn(3, 5, 16, device=torch_device)

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
