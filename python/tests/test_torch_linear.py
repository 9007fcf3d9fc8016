"""PyTorch's linear layer, computed by duogemm."""

import copy
import io

import pytest
from conftest import expect_product

torch = pytest.importorskip("torch", exc_type=ImportError)

import duogemm.torch  # noqa: E402

PRECISIONS = ("fp32", "bf16x6", "f16x3")
each_precision = pytest.mark.parametrize("precision", PRECISIONS)


@pytest.fixture
def layer(torch_device):
    """Makes a layer, which keeps terms where there are tensor cores."""
    torch.manual_seed(3)
    return lambda *sizes, **named: duogemm.torch.Linear(*sizes, device=torch_device, **named)


def expect_right(layer, x):
    with torch.no_grad():
        y = layer(x)
    assert y.shape == (*x.shape[:-1], layer.out_features)
    assert y.dtype == x.dtype
    expect_product(y if layer.bias is None else y - layer.bias.detach(), x, layer.weight.detach().mT)


def has_tensor_cores(torch_device):
    return torch_device == "cuda" and torch.cuda.get_device_capability() >= (8, 0)


@pytest.fixture
def keeps_terms(torch_device):
    if not has_tensor_cores(torch_device):
        pytest.skip("terms are kept for tensor cores")


@each_precision
def test_any_leading_dimensions(array, layer, precision, torch_device):
    own = layer(300, 260, bias=False, precision=precision)
    for shape in ((300,), (1, 300), (70, 300), (5, 7, 300), (2, 3, 4, 300), (0, 300), (2, 0, 300)):
        expect_right(own, array(*shape))
    expect_right(own, array(300, 20).mT)
    expect_right(own, array(70, 600)[:, ::2])
    assert (own.prepared_bytes > 0) == (precision != "fp32" and has_tensor_cores(torch_device))


@each_precision
def test_bias_and_gradients_are_those_of_pytorch(array, layer, precision):
    own = layer(30, 20, precision=precision)
    plain = torch.nn.Linear(30, 20, device=own.weight.device)
    plain.load_state_dict(own.state_dict())
    x = array(4, 5, 30, grad=True)
    own(x).sin().sum().backward()
    gradient, x.grad = x.grad, None
    plain(x).sin().sum().backward()
    for mine, theirs in ((gradient, x.grad), (own.weight.grad, plain.weight.grad), (own.bias.grad, plain.bias.grad)):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    assert own.prepared_bytes == 0
    with torch.no_grad():
        torch.testing.assert_close(own(x), plain(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_elements_of_16_bits(array, layer, kind):
    own = layer(64, 48, dtype=kind)
    x = array(10, 64).to(kind)
    with torch.no_grad():
        y = own(x)
    assert y.dtype is kind
    exact = x.double() @ own.weight.double().mT + own.bias.double()
    torch.testing.assert_close(y.double(), exact, rtol=0.01, atol=0.01)


def test_wrong_arguments(array, layer):
    with pytest.raises(duogemm.ArgumentError, match="tf32"):
        layer(4, 4, precision="tf32")
    with pytest.raises(duogemm.ArgumentError), torch.no_grad():
        layer(4, 4)(array(3, 8))
    assert "precision='bf16x6'" in repr(layer(4, 4, precision="bf16x6"))


def test_copies(array, layer):
    own, x = layer(64, 48), array(3, 64)
    expected = own(x).detach()
    with torch.no_grad():
        own(x)
    saved = io.BytesIO()
    torch.save(own, saved)
    saved.seek(0)
    for other in (copy.deepcopy(own), torch.load(saved, weights_only=False)):
        assert other.prepared_bytes == 0
        with torch.no_grad():
            torch.testing.assert_close(other(x), expected, rtol=1e-5, atol=1e-6)


def test_changed_weights_are_split_again(array, layer, keeps_terms):
    own, x = layer(512, 384, bias=False), array(256, 512)
    expect_right(own, x)
    memory = own._prepared._terms.data_ptr()
    with torch.no_grad():
        own.weight.mul_(-2)
    expect_right(own, x)
    own.load_state_dict({"weight": torch.randn_like(own.weight)})
    expect_right(own, x)
    own.weight = torch.nn.Parameter(torch.randn_like(own.weight))
    expect_right(own, x)
    assert own._prepared._terms.data_ptr() == memory
    own.weight.data.neg_()
    own.release()
    assert own.prepared_bytes == 0
    expect_right(own, x)
    own.precision = "bf16x6"
    expect_right(own, x)


def test_is_split_once(array, layer, keeps_terms, monkeypatch):
    from duogemm import _prepared

    own, x = layer(512, 384), array(256, 512)
    splits = []
    monkeypatch.setattr(_prepared.PreparedWeight, "update", lambda self, weight, update=_prepared.PreparedWeight.update: (
        splits.append(weight), update(self, weight)))
    with torch.inference_mode():
        for _ in range(3):
            own(x)
    assert len(splits) == 1
    own.to("cpu")
    assert own.prepared_bytes == 0


def test_graph(array, layer, keeps_terms):
    own, x = layer(1024, 1024, bias=False), array(1024, 1024)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad():
        own(x)
        with torch.cuda.graph(graph):
            y = own(x)
    for factor in (1, -3):
        with torch.no_grad():
            own.weight.mul_(factor)
            own(x)  # which brings the terms up to date
        graph.replay()
        expect_product(y, x, own.weight.detach().mT)
