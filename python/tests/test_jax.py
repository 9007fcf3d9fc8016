"""duogemm.jax: matmul on each of JAX's platforms that is there, and sharded_matmul on a mesh of a CPU's eight virtual devices, and of
all GPUs where there are several."""

import functools

import numpy
import pytest
from cases import SHAPES, Products, refused
from conftest import expect_product, has_cuda

import duogemm

jax = pytest.importorskip("jax", exc_type=ImportError)

import duogemm.jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402

pytestmark = pytest.mark.usefixtures("host_device")
matmul, sharded_matmul = duogemm.jax.matmul, duogemm.jax.sharded_matmul
M, N, K = 16, 24, 8


def theirs(a, b):
    return jnp.matmul(a, b, precision=jax.lax.Precision.HIGHEST)


def same(function, *arguments):
    """Raises unless a function makes the same of both products, types included."""
    for found, expected in zip(jax.tree.leaves(function(matmul)(*arguments)), jax.tree.leaves(function(theirs)(*arguments)), strict=True):
        assert jax.typeof(found) == jax.typeof(expected)
        numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def gradients(product):
    return jax.grad(lambda a, b: jnp.sin(product(a, b)).sum(), argnums=(0, 1))


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def array(request, random):
    """Makes a random array of a shape on a platform."""
    if request.param == "cuda" and not has_cuda():
        pytest.skip("no CUDA device was found")
    try:
        device = jax.devices(request.param)[0]
    except RuntimeError as error:
        pytest.skip(str(error))
    return lambda *shape: jax.device_put(random(*shape), device)


class TestProducts(Products):
    pass


@pytest.mark.parametrize("shapes", [SHAPES[i] for i in (0, 2, 3, 4, 5, 6, 8, 9, 11)], ids=str)
def test_gradients(array, shapes):
    same(lambda product: jax.jit(gradients(product)), *(array(*shape) for shape in shapes))


def test_gradients_of_elements_of_16_bits(array):
    a, b = array(6, 5).astype("bfloat16"), array(5, 7)
    to_a, to_b = gradients(matmul)(a, b)
    assert (to_a.dtype, to_b.dtype) == (jnp.bfloat16, jnp.float32)
    exact = gradients(theirs)(a.astype("float32"), b)
    numpy.testing.assert_allclose(to_a.astype("float32"), exact[0], rtol=0.01, atol=0.01)
    numpy.testing.assert_allclose(to_b, exact[1], rtol=1e-4, atol=1e-4)


def test_second_derivative(array):
    b = array(4, 5)
    same(lambda product: jax.grad(lambda a: (gradients(product)(a, b)[0] ** 2).sum()), array(3, 4))


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 2)])
def test_vmap(array, axes):
    same(lambda product: jax.vmap(product, in_axes=axes), *(array(4, 4, 4) if axis is not None else array(4, 4) for axis in axes))


def test_vmap_of_gradients(array):
    same(lambda product: jax.vmap(gradients(product)), array(6, 3, 4), array(6, 4, 5))


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


# The axes of the rows of a, its columns, the rows of b, its columns, and then of the result's rows and columns.
LAYOUTS = [
    ("x", None, None, None, "x", None),  # rows
    (None, None, None, "x", None, "x"),  # columns
    ("x", None, None, "x", "x", None),
    ("x", None, "x", None, "x", None),
    (None, "x", None, "x", None, "x"),
    (None, "x", "x", None, "x", None),
    (None, "x", None, None, "x", None),
    ("x", "y", "x", "y", "x", "y"),  # blocks
    ("x", None, None, "y", "x", "y"),
    ("x", "y", "y", None, "x", None),
    ("x", "y", "y", "x", "x", None),
    ("x", None, "y", None, "x", None),
    ("y", "x", "y", None, "y", None),
]


def gpus():
    """As many as M, N and K can be spread over, or none where that is one."""
    devices = jax.devices() if jax.default_backend() == "gpu" and has_cuda() else []
    return devices[: 1 << (min(len(devices), 8).bit_length() - 1)] if len(devices) > 1 else []


@pytest.fixture(scope="module", params=[("cpu", 8), ("cpu", 2, 4), ("gpu", -1)], ids=str)
def mesh(request):
    """Of one axis, or of two."""
    kind, *shape = request.param
    devices = jax.devices("cpu")[:8] if kind == "cpu" else gpus()
    if kind == "cpu" and len(devices) < 8:
        pytest.skip("JAX was started with fewer than eight virtual devices")
    if not devices:
        pytest.skip("there are no two GPUs")
    return jax.sharding.Mesh(numpy.array(devices).reshape(shape), ("x", "y")[: len(shape)])


def placed(mesh, array, *axes):
    return jax.device_put(array, NamedSharding(mesh, PartitionSpec(*axes)))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_layouts(mesh, random, layout):
    if "y" in layout and len(mesh.axis_names) == 1:
        pytest.skip("for two axes")
    a, b, weights = random(M, K), random(K, N), random(M, N)
    x, y = placed(mesh, a, *layout[:2]), placed(mesh, b, *layout[2:4])
    product = sharded_matmul(x, y)
    assert product.sharding.is_equivalent_to(NamedSharding(mesh, PartitionSpec(*layout[4:])), 2)
    numpy.testing.assert_allclose(product, a @ b, rtol=1e-4, atol=1e-5)

    def loss(x, y):
        where = {"mesh": mesh, "a_spec": PartitionSpec(*layout[:2]), "b_spec": PartitionSpec(*layout[2:4])}
        return (sharded_matmul(x, y, **where) * weights).sum()

    to_a, to_b = jax.jit(jax.grad(loss, argnums=(0, 1)))(x, y)
    numpy.testing.assert_allclose(to_a, weights @ b.T, rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(to_b, a.T @ weights, rtol=1e-4, atol=1e-5)


def test_matmul_in_shard_map(mesh, random):
    a, b = random(M, K), random(K, N)
    rows, whole = PartitionSpec("x", None), PartitionSpec(None, None)
    spread = jax.shard_map(matmul, mesh=mesh, in_specs=(rows, whole), out_specs=rows)
    product = spread(placed(mesh, a, "x", None), placed(mesh, b, None, None))
    numpy.testing.assert_allclose(product, a @ b, rtol=1e-4, atol=1e-5)


@pytest.fixture
def explicit_mesh():
    """Of two axes, whose shardings are part of types."""
    if not hasattr(jax, "set_mesh"):
        pytest.skip("this JAX has no explicit meshes")
    if len(jax.devices("cpu")) < 8:
        pytest.skip("JAX was started with fewer than eight virtual devices")
    kinds = (jax.sharding.AxisType.Explicit,) * 2
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=kinds, devices=jax.devices("cpu")[:8])
    with jax.set_mesh(mesh):
        yield mesh


@pytest.mark.parametrize("a, a_axes, b, b_axes", [
    ((8, 16), ("x", None), (16, 24), (None, None)),
    ((8, 16), (None, None), (16, 24), (None, "y")),
    ((8, 16), ("x", None), (16, 24), (None, "y")),
    ((8, 16), (("x", "y"), None), (16, 24), (None, None)),
    ((8, 16), ("x", None), (16, 24), ("x", None)),
    ((8, 16), (None, None), (16, 24), (None, None)),
    ((8, 4, 16), ("x", "y", None), (16, 24), (None, None)),
    ((8, 4, 16), (None, "y", None), (16, 24), (None, "x")),
    ((8, 4, 16), ("x", None, None), (8, 16, 24), ("x", None, "y")),
    ((8, 4, 16), ("x", None, None), (1, 16, 24), (None, None, "y")),
    ((1, 4, 16), (None, None, "x"), (8, 16, 24), ("x", None, None)),
    ((2, 1, 4, 16), ("x", None, None, None), (3, 16, 24), (None, None, "y")),
    ((4, 16), ("x", None), (8, 16, 24), (None, None, "y")),
    ((16,), (None,), (16, 24), (None, "y")),
    ((4, 8, 16), ("x", "y", None), (16,), (None,)),
], ids=str)
def test_explicit_mesh(explicit_mesh, random, a, a_axes, b, b_axes):
    operands = placed(explicit_mesh, random(*a), *a_axes), placed(explicit_mesh, random(*b), *b_axes)
    same(lambda product: product, *operands)
    same(gradients, *operands)
    same(lambda product: jax.jit(gradients(product)), *operands)


def test_transforms_on_an_explicit_mesh(explicit_mesh, random):
    a, shared = placed(explicit_mesh, random(8, 4, 16), "x", None, None), placed(explicit_mesh, random(16, 24), None, "y")
    b = placed(explicit_mesh, random(8, 16, 24), "x", None, "y")
    same(jax.vmap, a, b)
    same(lambda product: jax.vmap(gradients(product)), a, b)
    same(lambda product: gradients(jax.vmap(product)), a, b)
    same(lambda product: gradients(jax.vmap(product, in_axes=(0, None))), a, shared)
    same(lambda product: gradients(jax.vmap(product, in_axes=(1, None))), a, shared)
    same(lambda product: jax.grad(lambda a: (gradients(product)(a, shared)[0] ** 2).sum()), placed(explicit_mesh, random(8, 16), "x", None))


def test_copies_stand_before_products(mesh, random):
    """The next piece must be on its way while one is multiplied: its copy may not wait for the product."""
    where = {"mesh": mesh, "a_spec": PartitionSpec("x", None), "b_spec": PartitionSpec("x", None)}
    program = jax.make_jaxpr(lambda a, b: sharded_matmul(a, b, **where))(random(M, K), random(K, N))
    text = str(program)
    assert text.index("ppermute") < text.index("duogemm_product")


def test_refusals_of_sharded_matrices(mesh, random):
    rows, a, b = PartitionSpec("x", None), random(M, K), random(K, N)
    refused(ValueError, "is not sharded over a mesh", jnp.asarray(a), jnp.asarray(b), by=sharded_matmul)
    multiply = functools.partial(sharded_matmul, mesh=mesh, b_spec=rows)
    refused(ValueError, "both must be matrices", random(2, M, K), b, a_spec=rows, by=multiply)
    refused(ValueError, "cannot be spread", random(M + 1, K), b, a_spec=rows, by=multiply)
    refused(ValueError, "one axis of the mesh", a, b, a_spec=PartitionSpec(("x", "y")), by=multiply)
    refused(ValueError, "inner dimensions", a, a, a_spec=rows, by=multiply)
