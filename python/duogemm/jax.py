"""duogemm in JAX: matmul under jit, grad, vmap and shard_map, and sharded_matmul for arrays on several devices."""

import ctypes
import functools
import itertools
import operator

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.custom_batching import custom_vmap
from jax.sharding import NamedSharding, PartitionSpec

from ._layout import number, result_shape, words_to_numbers
from ._library import FOLDER, ArgumentError, ArrayTypeError, DeviceError
from ._matmul import Level, Precision

__all__ = ["matmul", "sharded_matmul"]

_TARGET = "duogemm_product"


_PATH = FOLDER / "libduogemm_jax.so"
if not _PATH.exists():
    raise DeviceError("JAX cannot be served: this duogemm was built without jaxlib's headers")
_HANDLERS = ctypes.CDLL(str(_PATH))
jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_HANDLERS.duogemm_jax_host), platform="cpu")
if hasattr(_HANDLERS, "duogemm_jax_cuda"):
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_HANDLERS.duogemm_jax_cuda), platform="CUDA")


def _varying(array):
    """The axes of a surrounding shard_map over which it varies. JAX has renamed the member."""
    kind = jax.typeof(array)
    axes = getattr(kind, "manual_axis_type", None)
    return getattr(kind, "vma", frozenset()) if axes is None else axes.varying


def _alike(a, b):
    """Both vary over the same axes, so that the gradient of one that did not is added up over them."""
    axes = _varying(a) | _varying(b)

    def vary(array):
        missing = tuple(axes - _varying(array))
        if not missing:
            return array
        return lax.pcast(array, missing, to="varying") if hasattr(lax, "pcast") else lax.pvary(array, missing)

    return vary(a), vary(b)


def _axes(array):
    """The axes of an explicit mesh along which each dimension lies, as tuples, or nothing where types do not tell of any."""
    spec = getattr(getattr(jax.typeof(array), "sharding", None), "spec", ())
    axes = [() if along is None else along if isinstance(along, tuple) else (along,) for along in spec]
    return axes if any(axes) else []


def _sharding_of_gradient(operand, other, gradient):
    """What its type has to say of it before it is added up along what was broadcast, where types tell of a mesh: it lies as its
    operand does, and along what was broadcast as the gradient that it is made of."""
    spread = [array for array in (operand, other, gradient) if _axes(array)]
    if not spread:
        return None
    own, its = (_axes(array) or [()] * array.ndim for array in (operand, gradient))
    taken = set(itertools.chain(*own))
    broadcast = [x != y and i < operand.ndim - 2 for i, (x, y) in enumerate(zip(operand.shape, gradient.shape))]
    spec = [tuple(axis for axis in its[i] if axis not in taken) if broadcast[i] else own[i] for i in range(operand.ndim)]
    return NamedSharding(jax.typeof(spread[0]).sharding.mesh, PartitionSpec(*(axes or None for axes in spec)))


def _call(a, b, transposed_a, transposed_b, words, sharding):
    """The product of matrices, or of batches whose leading dimensions are as many and alike or 1."""
    precision, level = (numpy.int32(number) for number in words_to_numbers(*words))

    def theirs(a, b):
        if sharding is not None:  # of whole operands, as jnp.matmul has an opinion on what may be multiplied in pieces
            whole = NamedSharding(sharding.mesh, PartitionSpec())
            a, b = (jax.sharding.reshard(array, whole) for array in (a, b))
        product = jnp.matmul(a.mT if transposed_a else a, b.mT if transposed_b else b, preferred_element_type=jnp.float32)
        return product if sharding is None else jax.sharding.reshard(product, sharding)

    # What JAX knows of its own product, such as how it is sharded, holds for ours.
    call = jax.ffi.ffi_call(_TARGET, jax.eval_shape(theirs, a, b))

    @custom_vmap
    def product(a, b):
        return call(a, b, transpose_a=transposed_a, transpose_b=transposed_b, level=level, precision=precision)

    @product.def_vmap
    def _(size, mapped, a, b):
        a, b = (array if its else array[None] for its, array in zip(mapped, (a, b)))
        along = next((axes[0] for axes in (_axes(a), _axes(b)) if axes and axes[0]), ())
        with_it = None if sharding is None else NamedSharding(sharding.mesh, PartitionSpec(along or None, *sharding.spec))
        return _call(a, b, transposed_a, transposed_b, words, with_it), True

    return product(a, b)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def _product(a, b, transposed_a, transposed_b, words, sharding):
    return _call(a, b, transposed_a, transposed_b, words, sharding)


def _forward(a, b, *rest):
    return _product(a, b, *rest), (a, b)


def _sum_to(gradient, shape):
    """Adds up along what was broadcast."""
    along = tuple(i for i, (x, y) in enumerate(zip(gradient.shape, shape)) if x != y)
    return jnp.sum(gradient, axis=along, keepdims=True) if along else gradient


def _backward(transposed_a, transposed_b, words, sharding, kept, gradient):
    a, b = kept
    for_a, for_b = _sharding_of_gradient(a, b, gradient), _sharding_of_gradient(b, a, gradient)
    if transposed_a:
        to_a = _product(b, gradient, transposed_b, True, words, for_a)
    else:
        to_a = _product(gradient, b, False, not transposed_b, words, for_a)
    if transposed_b:
        to_b = _product(gradient, a, True, transposed_a, words, for_b)
    else:
        to_b = _product(a, gradient, not transposed_a, False, words, for_b)
    return _sum_to(to_a, a.shape).astype(a.dtype), _sum_to(to_b, b.shape).astype(b.dtype)


_product.defvjp(_forward, _backward)


def require_elements(*allowed, **arrays):
    """Raises unless all have elements of those types."""
    for name, array in arrays.items():
        dtype = getattr(array, "dtype", None)
        if dtype not in allowed:
            words = " or ".join(str(jnp.dtype(kind)) for kind in allowed)
            raise ArrayTypeError(f"{name} is {f'of {dtype}' if dtype else type(array).__qualname__}; it must be an array of {words}")


def matmul(a: jax.Array, b: jax.Array, *, precision: Precision = "fp32", level: Level = "run_to_run") -> jax.Array:
    """a @ b by duogemm, for arrays with any number of batch dimensions, which are broadcast as jnp.matmul does.

    Elements are of float32, bfloat16 or float16, and the result's of float32.
    Under jit, grad, vmap and shard_map, on a CPU (the library's default device) and on CUDA. See duogemm.matmul.
    """
    require_elements(jnp.float32, jnp.bfloat16, jnp.float16, a=a, b=b)
    words_to_numbers(precision, level)
    shape = result_shape(a.shape, b.shape)
    rows = a[None] if a.ndim == 1 else a
    columns = b[:, None] if b.ndim == 1 else b
    if columns.ndim == 2 and rows.ndim > 2 and not _axes(rows):
        rows = rows.reshape(-1, rows.shape[-1])  # one multiplication by what the batch shares
    dimensions = max(rows.ndim, columns.ndim)
    rows, columns = (array.reshape((1,) * (dimensions - array.ndim) + array.shape) for array in (rows, columns))
    return _product(*_alike(rows, columns), False, False, (precision, level), None).reshape(shape)


def multiply(a, b, out, alpha, beta, precision, level):
    """duogemm.matmul for JAX's arrays."""
    if out is not None:
        raise ArgumentError("out cannot be given: JAX's arrays do not change")
    if beta != 0:
        raise ArgumentError(f"beta is {beta} and there is no out to multiply by it")
    alpha = number("alpha", alpha)
    product = matmul(a, b, precision=precision, level=level)
    return product if alpha == 1 else alpha * product


def _around(size):
    """Each device hands its piece to the one before it."""
    return [(i, (i - 1) % size) for i in range(size)]


def _piece(array, index, axis, dimension):
    """One of as many along a dimension as the axis has devices."""
    length = array.shape[dimension] // lax.axis_size(axis)
    return lax.dynamic_slice_in_dim(array, index * length, length, dimension)


def _coming_by(array, axis):
    """The pieces of all devices of an axis by their numbers, beginning with the own. While one is multiplied, the next is on its way."""
    size, here = lax.axis_size(axis), lax.axis_index(axis)
    for step in range(size):
        following = lax.ppermute(array, axis, _around(size)) if step + 1 < size else None
        yield (here + step) % size, array
        array = following


def _all_columns(a, b, axis, multiply):
    """All columns of the result in its rows here: pieces of columns of b come by, in the order in which they follow the own."""
    products = jnp.stack([multiply(a, piece) for _, piece in _coming_by(b, axis)])
    return jnp.roll(products, lax.axis_index(axis), axis=0).transpose(1, 0, 2).reshape(a.shape[0], -1)


def _scatter_sum(a, b, axis, multiply):
    """Each device has one piece of k of both. The rows of the sum end up in pieces: a partial sum comes by, takes this device's
    share, and is handed on, while the share of the next is multiplied."""
    size, here = lax.axis_size(axis), lax.axis_index(axis)
    total = None
    for step in range(size):
        # The sum that ends here after the last step has been started by the next device.
        product = multiply(_piece(a, (here + step + 1) % size, axis, 0), b)
        total = product if total is None else lax.ppermute(total, axis, _around(size)) + product
    return total


class _Places:
    """Over which axes of a mesh the rows of a, k of either, and the columns of b are spread."""

    def __init__(self, a_spec, b_spec):
        self.rows, self.a_k = _two_axes("a", a_spec)
        self.b_k, self.columns = _two_axes("b", b_spec)
        # One axis cannot spread rows and columns of the result.
        self.both = self.rows is not None and self.rows == self.columns
        result = (self.rows, None if self.both else self.columns)
        free = {self.a_k, self.b_k} - {*result, None}
        if len(free) > 1:
            raise ArgumentError(f"k lies along {self.a_k!r} in a and along {self.b_k!r} in b, and neither spreads the result: "
                                "shard one of them otherwise")
        self.free = free.pop() if free else None  # the axis that spreads k and not the result
        self.result = PartitionSpec(result[0] or self.free, result[1])


def _two_axes(name, spec):
    axes = (*spec, None, None)[:2]
    if len(spec) > 2 or any(not (axis is None or isinstance(axis, str)) for axis in axes):
        raise ArgumentError(f"{name} is sharded as {spec}; each of its two dimensions may lie along one axis of the mesh")
    return axes


def _own_k(array, dimension, axis, free):
    """Its piece of k of an operand, where the free axis spreads k and not the result."""
    if axis == free:
        return array
    if axis is not None:
        array = lax.all_gather(array, axis, axis=dimension, tiled=True)
    return _piece(array, lax.axis_index(free), free, dimension)


def _multiply_pieces(a, b, places, multiply):
    """What each device does with its pieces."""
    if places.free is not None:
        a, b = _own_k(a, 1, places.a_k, places.free), _own_k(b, 0, places.b_k, places.free)
        if places.rows is None:
            return _scatter_sum(a, b, places.free, multiply)
        return lax.psum(_all_columns(a, b, places.columns, multiply) if places.both else multiply(a, b), places.free)
    if places.both:
        return _all_columns(a, b, places.columns, multiply)
    if places.b_k is not None:
        if places.a_k is not None:
            a = lax.all_gather(a, places.a_k, axis=1, tiled=True)
        products = (multiply(_piece(a, i, places.b_k, 1), piece) for i, piece in _coming_by(b, places.b_k))
        return functools.reduce(operator.add, products)
    if places.a_k is not None:
        products = (multiply(piece, _piece(b, i, places.a_k, 0)) for i, piece in _coming_by(a, places.a_k))
        return functools.reduce(operator.add, products)
    return multiply(a, b)


def _sharding(name, array):
    for found in (getattr(array, "sharding", None), getattr(jax.typeof(array), "sharding", None)):
        if isinstance(found, NamedSharding) and found.mesh.axis_names:
            return found
    raise ArgumentError(f"{name} is not sharded over a mesh; give mesh, a_spec and b_spec")


@functools.lru_cache(maxsize=256)
def _program(mesh, a_spec, b_spec, precision):
    """Compiled as a whole, without which copies and products would take turns."""
    places = _Places(a_spec, b_spec)
    body = functools.partial(_multiply_pieces, places=places, multiply=functools.partial(matmul, precision=precision))
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(a_spec, b_spec), out_specs=places.result))


def sharded_matmul(
    a: jax.Array,
    b: jax.Array,
    *,
    mesh: jax.sharding.Mesh | None = None,
    a_spec: PartitionSpec | None = None,
    b_spec: PartitionSpec | None = None,
    precision: Precision = "fp32",
) -> jax.Array:
    """a @ b for matrices of float32 that are spread over the devices of a mesh. Each device multiplies its pieces by duogemm,
    while the pieces that it needs next are on their way from its neighbour.

    mesh, a_spec, b_spec: how a and b lie, by default as their own sharding says. Rows and columns of each lie along one axis of
        the mesh or along none (jax.sharding.PartitionSpec).
    The result's rows lie as a's and its columns as b's. Where one axis would spread both, it spreads the rows. Where an axis
    spreads k and not the result, the sums of its devices are added up, and it spreads the result's rows where none does.

    Sums over k are made of a sum for each piece: the bits are the same from run to run, and not those of one device.
    Under jit and grad. Not for arrays with batch dimensions: those need no communication (duogemm.jax.matmul in shard_map).
    """
    require_elements(jnp.float32, a=a, b=b)
    words_to_numbers(precision, "run_to_run")
    if a.ndim != 2 or b.ndim != 2:
        raise ArgumentError(f"a has {a.ndim} dimensions and b {b.ndim}; both must be matrices")
    result_shape(a.shape, b.shape)
    mesh = mesh if mesh is not None else _sharding("a", a).mesh
    a_spec = a_spec if a_spec is not None else _sharding("a", a).spec
    b_spec = b_spec if b_spec is not None else _sharding("b", b).spec
    places = _Places(a_spec, b_spec)
    for name, length, axis in (("rows of a", a.shape[0], places.result[0]), ("columns of a", a.shape[1], places.a_k),
                               ("rows of b", b.shape[0], places.b_k), ("columns of b", b.shape[1], places.columns)):
        if axis is not None and length % mesh.shape[axis]:
            raise ArgumentError(f"the {length} {name} cannot be spread over the {mesh.shape[axis]} devices of axis {axis!r}")
    return _program(mesh, a_spec, b_spec, precision)(a, b)
