"""Grouped products of PyTorch's tensors."""

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import duogemm.torch  # noqa: E402


@pytest.fixture
def groups(torch_device):
    """Makes rows, matrices, and the ends of groups of these sizes."""
    torch.manual_seed(5)

    def make(sizes, k=70, n=50, spare=0, dtype=torch.float32):
        rows = sum(sizes) + spare
        a = torch.randn(rows, k, device=torch_device).to(dtype)
        b = torch.randn(len(sizes), k, n, device=torch_device).to(dtype)
        return a, b, torch.tensor(sizes, device=torch_device).cumsum(0).to(torch.int32)

    return make


def loop(a, b, offs):
    parts = [a[begin:end].double() @ b[i].double() for i, (begin, end) in enumerate(zip([0, *offs.tolist()], offs.tolist()))]
    return torch.cat(parts)


def expect_right(a, b, offs, **named):
    found = duogemm.torch.grouped_mm(a, b, offs=offs, **named)
    assert found.shape == (a.shape[0], b.shape[2]) and found.dtype == torch.float32
    right = loop(a, b, offs)
    torch.testing.assert_close(found[: right.shape[0]].double(), right, rtol=0, atol=1e-4)


@pytest.mark.parametrize("precision", ("fp32", "bf16x6", "f16x3"))
def test_groups_of_any_size(groups, precision):
    for sizes in ((3,), (0, 5, 0, 130, 1, 64), (0,) * 7 + (200,), (1,) * 40):
        expect_right(*groups(sizes), precision=precision)
    expect_right(*groups((300, 500, 411), k=256, n=256, spare=9), precision=precision)


def test_any_strides_and_elements(groups):
    a, b, offs = groups((9, 0, 30))
    expect_right(a.mT.contiguous().mT, b, offs)
    expect_right(a, b.mT.contiguous().mT, offs, level="everywhere")
    expect_right(a, b[:1].expand(3, -1, -1), offs)
    expect_right(a.repeat(1, 2)[:, ::2][:, :35].repeat(1, 2), b, offs)
    expect_right(*groups((9, 0, 30), dtype=torch.bfloat16))
    expect_right(*groups((9, 0, 30), dtype=torch.float16), precision="f16x3")


@pytest.mark.parametrize("words", ({"level": "everywhere"}, {"level": "batch_invariant", "precision": "f16x3"}))
def test_the_same_bits_as_by_single_products(groups, words):
    a, b, offs = groups((7, 90, 1))
    found = duogemm.torch.grouped_mm(a, b, offs=offs, **words)
    single = torch.cat([duogemm.torch.matmul(part, own, **words) for part, own in zip(a.split((7, 90, 1)), b)])
    assert torch.equal(found, single)


def test_gradients(groups):
    a, b, offs = groups((7, 0, 5), k=6, n=4)
    a.requires_grad_()
    b.requires_grad_()
    duogemm.torch.grouped_mm(a, b, offs=offs).sin().sum().backward()
    found = a.grad, b.grad
    a.grad = b.grad = None
    loop(a, b, offs).sin().sum().backward()
    for own, right in zip(found, (a.grad, b.grad)):
        torch.testing.assert_close(own, right, rtol=1e-4, atol=1e-4)


def test_gradients_of_rows_of_no_group_are_zero(groups):
    a, b, offs = groups((7, 5), k=6, n=4, spare=3)
    a.requires_grad_()
    duogemm.torch.grouped_mm(a, b, offs=offs)[:12].sum().backward()
    assert torch.equal(a.grad[12:], torch.zeros(3, 6, device=a.device))
    assert (a.grad[:12] != 0).all()


def test_nothing_to_do(groups, torch_device):
    a, b, offs = groups((0, 0))
    a.requires_grad_()
    b.requires_grad_()
    duogemm.torch.grouped_mm(a, b[:0], offs=offs[:0]).sum().backward()
    assert b.grad.abs().sum() == 0
    a, b = a.detach(), b.detach()
    assert duogemm.torch.grouped_mm(a, b, offs=offs).shape == (0, 50)
    assert duogemm.torch.grouped_mm(a, b[:0], offs=offs[:0]).shape == (0, 50)


def test_is_an_operator(groups):
    a, b, offs = groups((7, 5))
    torch.library.opcheck(torch.ops.duogemm.grouped_mm, (a, b, offs))
    a.requires_grad_()
    b.requires_grad_()
    torch.library.opcheck(torch.ops.duogemm.grouped_mm, (a, b, offs))
    torch.library.opcheck(torch.ops.duogemm.grouped_outer, (a.detach(), a.detach(), offs))


def test_what_is_refused(groups):
    a, b, offs = groups((7, 5))

    def refused(*arguments, offs=offs):
        with pytest.raises((duogemm.ArgumentError, duogemm.ArrayTypeError)) as error:
            duogemm.torch.grouped_mm(*arguments, offs=offs)
        return str(error.value)

    assert refused(a, b, offs=offs.long()) == "offs is of torch.int64; it must be of torch.int32"
    assert refused(a, b, offs=offs[:1]) == "offs has 1 elements; b has 2 matrices"
    assert refused(a, b[0]) == "b has 2 dimensions; it must have 3"
    assert "the inner dimensions differ" in refused(a[:, 1:], b)
    assert "float64" in refused(a.double(), b)


def test_is_captured_with_sizes_that_change(groups, torch_device):
    if torch_device != "cuda":
        pytest.skip("graphs are CUDA's")
    for precision in ("fp32", "f16x3"):
        a, b, offs = groups((100, 300, 200), k=128, n=256)
        duogemm.torch.grouped_mm(a, b, offs=offs, precision=precision)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = duogemm.torch.grouped_mm(a, b, offs=offs, precision=precision)
        for sizes in ((600, 0, 0), (0, 1, 599), (200, 200, 200)):
            offs.copy_(torch.tensor(sizes).cumsum(0).to(torch.int32))
            graph.replay()
            torch.testing.assert_close(found.double(), loop(a, b, offs), rtol=0, atol=1e-3)
