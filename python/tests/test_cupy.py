"""CuPy's arrays, on the current stream of their device."""

import threading

import numpy
import pytest
from cases import StridedProducts, refused
from conftest import expect_product, has_cuda

import duogemm

cupy = pytest.importorskip("cupy", exc_type=ImportError)


@pytest.fixture(scope="module")
def array(random):
    """Makes a random array of a shape."""
    if not has_cuda():
        pytest.skip("no CUDA device was found")
    return lambda *shape: cupy.asarray(random(*shape))


class TestProducts(StridedProducts):
    def module(self):
        from duogemm import _cupy

        return _cupy


def test_stream(array):
    a, b = array(1024, 1024), array(1024, 1024)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        result = duogemm.matmul(a, b)
        copy = result.copy()
    stream.synchronize()
    expect_product(copy, a, b)


def test_new_thread(array):
    a, b, results = array(64, 64), array(64, 64), []
    thread = threading.Thread(target=lambda: results.append(duogemm.matmul(a, b, out=cupy.empty((64, 64), "float32"))))
    thread.start()
    thread.join()
    expect_product(results[0], a, b)


def test_other_arrays(array):
    class Foreign:
        """Has __cuda_array_interface__ and nothing else."""

        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    a, b, out = array(6, 5), array(5, 7), array(6, 7)
    foreign = Foreign(out)
    assert duogemm.matmul(Foreign(a), Foreign(b.T.copy().T), out=foreign) is foreign
    cupy.cuda.Device().synchronize()
    expect_product(out, a, b)
    refused(ValueError, "out is missing", Foreign(a), Foreign(b))
    refused(TypeError, "of float64", Foreign(a.astype("float64")), Foreign(b), out=foreign)


def test_refusals(array):
    a, out = array(4, 4), array(4, 4)
    refused(TypeError, "b is of float64", a, a.astype("float64"), out=out)
    refused(TypeError, "b is numpy.ndarray", a, numpy.ones((4, 4), "float32"), out=out)
    refused(ValueError, "inner dimensions", a, array(5, 4), out=out)
    refused(ValueError, "one must be 1", array(8, 8)[::2, ::2], a, out=out)
    refused(ValueError, "out overlaps a", out, a, out=out)
