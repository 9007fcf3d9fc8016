"""duogemm.jax.matmul, on each of JAX's platforms that is there."""

import numpy
import pytest
from cases import SHAPES, Products, refused
from conftest import expect_product, has_cuda

import duogemm

jax = pytest.importorskip("jax", exc_type=ImportError)

import duogemm.jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

matmul = duogemm.jax.matmul


def theirs(a, b):
    return jnp.matmul(a, b, precision=jax.lax.Precision.HIGHEST)


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def array(request, random):
    """Makes a random array of a shape on a platform."""
    if request.param == "cuda" and not has_cuda():
        pytest.skip("no CUDA device was found")
    request.getfixturevalue("host_device")
    try:
        device = jax.devices(request.param)[0]
    except RuntimeError as error:
        pytest.skip(str(error))
    return lambda *shape: jax.device_put(random(*shape), device)


def expect_close(found, expected):
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        numpy.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)


class TestProducts(Products):
    pass


@pytest.mark.parametrize("shapes", [SHAPES[i] for i in (0, 2, 3, 4, 5, 6, 8, 9, 11)], ids=str)
def test_gradients(array, shapes):
    a, b = (array(*shape) for shape in shapes)
    weights = array(*jnp.matmul(a, b).shape)

    def gradients(product):
        return jax.jit(jax.grad(lambda a, b: (product(a, b) * weights).sum(), argnums=(0, 1)))(a, b)

    expect_close(gradients(matmul), gradients(theirs))


def test_second_derivative(array):
    a, b = array(3, 4), array(4, 5)

    def curvature(product):
        return jax.grad(lambda a: jnp.sum(jax.grad(lambda a: (product(a, b) ** 2).sum())(a) ** 2))(a)

    expect_close(curvature(matmul), curvature(theirs))


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 2)])
def test_vmap(array, axes):
    a, b = (array(4, 4, 4) if axis is not None else array(4, 4) for axis in axes)
    expect_close(jax.vmap(matmul, in_axes=axes)(a, b), jax.vmap(theirs, in_axes=axes)(a, b))


def test_vmap_of_gradients(array):
    a, b = array(6, 3, 4), array(6, 4, 5)

    def gradients(product):
        return jax.vmap(jax.grad(lambda a, b: product(a, b).sum(), argnums=(0, 1)))(a, b)

    expect_close(gradients(matmul), gradients(theirs))


def test_eager_arrays(array):
    a, b = array(4, 5), array(5, 6)
    product = duogemm.matmul(a, b, alpha=2)
    assert isinstance(product, jax.Array)
    expect_product(product, a, b, 2)


def test_refusals(array):
    a = array(4, 4)
    refused(TypeError, "b is of int32", a, a.astype("int32"), by=matmul)
    refused(TypeError, "b is list", a, [[1.0]], by=matmul)
    refused(ValueError, "inner dimensions", a, array(5, 4), by=matmul)
    refused(ValueError, "precision is 'fp8'", a, a, precision="fp8", by=matmul)
    refused(ValueError, "alpha is too large", a, a, alpha=1e40)
    refused(ValueError, "alpha is '2'", a, a, alpha="2")
    refused(ValueError, "out cannot be given", a, a, out=a)


def test_a_fault_of_the_library_is_an_exception(array):
    with pytest.raises(Exception, match="must be fp32 at the level everywhere"):
        jax.block_until_ready(matmul(array(4, 4), array(4, 4), precision="bf16x6", level="everywhere"))
