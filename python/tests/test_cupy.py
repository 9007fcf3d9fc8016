"""CuPy's arrays, on the current stream of their device."""

import numpy
import pytest
from cases import SHAPES, STORED
from conftest import expect_product, has_cuda

import duogemm

cupy = pytest.importorskip("cupy", exc_type=ImportError)


@pytest.fixture(scope="module")
def array(random):
    """Makes a random array of a shape."""
    if not has_cuda():
        pytest.skip("no CUDA device was found")
    return lambda *shape: cupy.asarray(random(*shape))


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes(array, shapes):
    a, b = (array(*shape) for shape in shapes)
    expect_product(duogemm.matmul(a, b).get(), a.get(), b.get())


@pytest.mark.parametrize("stored", STORED)
def test_views(array, stored):
    shape_of, view = STORED[stored]
    a, b, out = (view(array(*shape_of(3, *shape))) for shape in ((6, 5), (5, 7), (6, 7)))
    assert duogemm.matmul(a, b, out=out, alpha=2) is out
    expect_product(out.get(), a.get(), b.get(), 2)


def test_short_way(array, monkeypatch):
    """Usual products are looked at in C alone."""
    from duogemm import _cupy

    monkeypatch.setattr(_cupy, "call_for", None)
    a, b, out = array(60, 50), array(50, 70), array(60, 70)
    expect_product(duogemm.matmul(a, b).get(), a.get(), b.get())
    expect_product(duogemm.matmul(cupy.asfortranarray(a), b, out=out, precision="f16x3").get(), a.get(), b.get())
    before = out.get()
    duogemm.matmul(a, b, out=out, alpha=0.5, beta=-1)
    assert numpy.allclose(out.get(), 0.5 * (a.get() @ b.get()) - before, rtol=1e-4, atol=1e-4)


def test_precisions(array):
    a, b = array(300, 2000), array(2000, 200)
    for precision in ("fp32", "bf16x6", "f16x3"):
        expect_product(duogemm.matmul(a, b, precision=precision).get(), a.get(), b.get())


def test_stream(array):
    a, b = array(1024, 1024), array(1024, 1024)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        result = duogemm.matmul(a, b)
        copy = result.copy()
    stream.synchronize()
    expect_product(copy.get(), a.get(), b.get())


def test_new_thread(array):
    import threading

    a, b, results = array(64, 64), array(64, 64), []
    thread = threading.Thread(target=lambda: results.append(duogemm.matmul(a, b, out=cupy.empty((64, 64), "float32"))))
    thread.start()
    thread.join()
    expect_product(results[0].get(), a.get(), b.get())


def test_other_arrays(array):
    class Foreign:
        """Has __cuda_array_interface__ and nothing else."""

        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    a, b, out = array(6, 5), array(5, 7), array(6, 7)
    foreign = Foreign(out)
    assert duogemm.matmul(Foreign(a), Foreign(b.T.copy().T), out=foreign) is foreign
    cupy.cuda.Device().synchronize()
    expect_product(out.get(), a.get(), b.get())
    with pytest.raises(ValueError, match="out is missing"):
        duogemm.matmul(Foreign(a), Foreign(b))
    with pytest.raises(TypeError, match="of float64"):
        duogemm.matmul(Foreign(a.astype("float64")), Foreign(b), out=foreign)


def test_refusals(array):
    a, out = array(4, 4), array(4, 4)
    before = out.get()
    for kind, words, arrays in (
        (TypeError, "b is of float64", (a, a.astype("float64"))),
        (TypeError, "b is numpy.ndarray", (a, numpy.ones((4, 4), "float32"))),
        (ValueError, "inner dimensions", (a, array(5, 4))),
        (ValueError, "one must be 1", (array(8, 8)[::2, ::2], a)),
        (ValueError, "out overlaps a", (out, a)),
    ):
        with pytest.raises(kind, match=words) as raised:
            duogemm.matmul(*arrays, out=out)
        assert isinstance(raised.value, duogemm.Error)
    assert (out.get() == before).all()
