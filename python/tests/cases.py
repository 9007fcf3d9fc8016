"""Shapes and ways to store arrays, and the tests that all kinds of arrays have in common."""

import numpy
import pytest
from conftest import expect_product, host

import duogemm

SHAPES = [
    ((33, 17), (17, 29)),
    ((1, 17), (17, 1)),
    ((5,), (5, 7)),
    ((5, 7), (7,)),
    ((9,), (9,)),
    ((3, 5, 7), (7, 4)),
    ((3, 5, 7), (3, 7, 4)),
    ((3, 1, 7), (7, 4)),
    ((5, 7), (3, 7, 4)),
    ((2, 1, 5, 7), (3, 7, 4)),
    ((2, 1, 1, 5, 7), (1, 3, 1, 7, 4)),
    ((2, 3, 5, 7), (2, 1, 7, 4)),
    ((4, 5, 7), (7,)),
    ((0, 7), (7, 4)),
    ((3, 0), (0, 4)),
    ((0, 5, 7), (7, 4)),
]
NOT_EMPTY = [shapes for shapes in SHAPES if 0 not in shapes[0]]


def wide(array):
    """Columns of a wider array."""
    return array[..., 1:-2]


def transposed(array):
    """The last two dimensions exchanged."""
    return array.swapaxes(-1, -2)


# How an operand is made of another that is contiguous: its shape from that which is wanted, and the view.
STORED = {
    "contiguous": (lambda *shape: shape, lambda array: array),
    "transposed": (lambda *shape: (*shape[:-2], shape[-1], shape[-2]), transposed),
    "columns": (lambda *shape: (*shape[:-1], shape[-1] + 3), wide),
    "rows": (lambda *shape: (*shape[:-2], shape[-1], shape[-2] + 3), lambda array: transposed(wide(array))),
}


def refused(kind, words, *arrays, by=duogemm.matmul, **named):
    """Raises unless the call raises that, and writes nothing."""
    out = named.get("out")
    before = None if out is None else host(out).copy()
    with pytest.raises(kind, match=words) as raised:
        by(*arrays, **named)
    assert isinstance(raised.value, duogemm.Error)
    assert out is None or (host(out) == before).all()


class Products:
    """Of arrays that the fixture `array` makes of a shape."""

    @pytest.mark.parametrize("shapes", SHAPES, ids=str)
    def test_shapes(self, array, shapes):
        a, b = (array(*shape) for shape in shapes)
        expect_product(duogemm.matmul(a, b), a, b)

    @pytest.mark.parametrize("precision", ["fp32", "bf16x6", "f16x3"])
    def test_precisions(self, array, precision):
        a, b = array(40, 3000), array(3000, 30)
        expect_product(duogemm.matmul(a, b, precision=precision), a, b)


    def narrow(self, array, word):
        """The array with elements of that type."""
        return array.astype(word)

    @pytest.mark.parametrize("words", [("bfloat16", "float32"), ("float32", "float16"), ("float16", "bfloat16")], ids=str)
    def test_elements_of_16_bits(self, array, words):
        pytest.importorskip("ml_dtypes")
        a, b = (self.narrow(array(2, 40, 40), word) for word in words)
        same = [self.narrow(operand, "float32") for operand in (a, b)]
        product = host(duogemm.matmul(a, b, level="everywhere"))
        assert product.dtype == numpy.float32
        assert (product == host(duogemm.matmul(*same, level="everywhere"))).all()
        expect_product(duogemm.matmul(a, b, precision="f16x3"), *same)


class StridedProducts(Products):
    """Of arrays that have views, and of which usual ones are multiplied in C alone."""

    @pytest.mark.parametrize("stored", STORED)
    def test_views(self, array, stored):
        shape_of, view = STORED[stored]
        a, b, out = (view(array(*shape_of(3, *shape))) for shape in ((6, 5), (5, 7), (6, 7)))
        assert duogemm.matmul(a, b, out=out, alpha=2) is out
        expect_product(out, a, b, 2)

    @pytest.mark.parametrize("word", ["bfloat16", "float16"])
    def test_results_of_16_bits(self, array, word):
        pytest.importorskip("ml_dtypes")
        a, b = array(20, 30), array(30, 40)
        out = self.narrow(array(20, 50), word)[:, 3:43]
        assert duogemm.matmul(a, b, out=out, alpha=2, level="everywhere") is out
        rounded = self.narrow(duogemm.matmul(a, b, alpha=2, level="everywhere"), word)
        assert (host(out).astype("float32") == host(rounded).astype("float32")).all()

    def test_short_way(self, array, monkeypatch):
        monkeypatch.setattr(self.module(), "call_for", None)
        a, by_columns, b, out = array(60, 50), transposed(array(50, 60)), array(50, 70), array(60, 70)
        expect_product(duogemm.matmul(a, b), a, b)
        expect_product(duogemm.matmul(by_columns, b, out=out, precision="f16x3"), by_columns, b)
        before = host(out).copy()
        duogemm.matmul(a, b, out=out, alpha=0.5, beta=-1)
        assert numpy.allclose(host(out), 0.5 * (host(a) @ host(b)) - before, rtol=1e-4, atol=1e-4)
