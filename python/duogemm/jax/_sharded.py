"""sharded_matmul: products of arrays that lie in pieces on several devices."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from .._errors import ArgumentError
from .._layout import result_shape, words_to_numbers
from .._matmul import Precision
from ._product import matmul, require_float32


def _around(size):
    """Each device hands its piece to the one before it."""
    return [(i, (i - 1) % size) for i in range(size)]


def _slice(array, index, pieces, axis):
    length = array.shape[axis] // pieces
    return lax.dynamic_slice_in_dim(array, index * length, length, axis)


def _ring_over_b(a, b, axis, multiply):
    """The sum over pieces of k: a has all of them, b comes by piece by piece. While one is multiplied, the next is on its way."""
    size, here = lax.axis_size(axis), lax.axis_index(axis)
    total = None
    for step in range(size):
        following = lax.ppermute(b, axis, _around(size)) if step + 1 < size else None
        product = multiply(_slice(a, (here + step) % size, size, 1), b)
        total = product if total is None else total + product
        b = following
    return total


def _ring_over_a(a, b, axis, multiply):
    """The same with b at home and a coming by."""
    size, here = lax.axis_size(axis), lax.axis_index(axis)
    total = None
    for step in range(size):
        following = lax.ppermute(a, axis, _around(size)) if step + 1 < size else None
        product = multiply(a, _slice(b, (here + step) % size, size, 0))
        total = product if total is None else total + product
        a = following
    return total


def _ring_over_columns(a, b, axis, multiply):
    """All columns of the result in its rows here: pieces of columns of b come by."""
    size, here = lax.axis_size(axis), lax.axis_index(axis)
    pieces = []
    for step in range(size):
        following = lax.ppermute(b, axis, _around(size)) if step + 1 < size else None
        pieces.append(multiply(a, b))
        b = following
    # Piece `step` is that of device here + step: put in their order.
    return jnp.roll(jnp.stack(pieces), here, axis=0).transpose(1, 0, 2).reshape(a.shape[0], -1)


def _scatter_sum(a, b, axis, multiply):
    """Each device has one piece of k of both. The rows of the sum end up in pieces: a partial sum comes by, takes this device's
    share, and is handed on, while the share of the next is multiplied."""
    size, here = lax.axis_size(axis), lax.axis_index(axis)
    total = None
    for step in range(size):
        # The sum that ends here after the last step has been started by the next device.
        piece = _slice(a, (here + step + 1) % size, size, 0)
        product = multiply(piece, b)
        total = product if total is None else lax.ppermute(total, axis, _around(size)) + product
    return total


class _Places:
    """Over which axes of a mesh the rows of a, k of either, and the columns of b are spread."""

    def __init__(self, a_spec, b_spec):
        self.rows, self.a_k = _axes("a", a_spec)
        self.b_k, self.columns = _axes("b", b_spec)
        # One axis cannot spread rows and columns of the result.
        self.both = self.rows is not None and self.rows == self.columns
        result = (self.rows, None if self.both else self.columns)
        free = {self.a_k, self.b_k} - {*result, None}
        if len(free) > 1:
            raise ArgumentError(f"k lies along {self.a_k!r} in a and along {self.b_k!r} in b, and neither spreads the result: "
                                "shard one of them otherwise")
        self.free = free.pop() if free else None  # the axis that spreads k and not the result
        self.result = PartitionSpec(result[0] or self.free, result[1])


def _axes(name, spec):
    axes = (*spec, None, None)[:2]
    if len(spec) > 2 or any(not (axis is None or isinstance(axis, str)) for axis in axes):
        raise ArgumentError(f"{name} is sharded as {spec}; each of its two dimensions may lie along one axis of the mesh")
    return axes


def _split_k(a, b, places):
    """What is left of both where one axis spreads k and not the result: its piece of k of each."""
    if places.a_k not in (None, places.free):
        a = lax.all_gather(a, places.a_k, axis=1, tiled=True)
    if places.b_k not in (None, places.free):
        b = lax.all_gather(b, places.b_k, axis=0, tiled=True)
    size, here = lax.axis_size(places.free), lax.axis_index(places.free)
    return (a if places.a_k == places.free else _slice(a, here, size, 1),
            b if places.b_k == places.free else _slice(b, here, size, 0))


def _multiply_pieces(a, b, places, multiply):
    """What each device does with its pieces."""
    if places.free is not None:
        a, b = _split_k(a, b, places)
        if places.rows is None:
            return _scatter_sum(a, b, places.free, multiply)
        product = _ring_over_columns(a, b, places.columns, multiply) if places.both else multiply(a, b)
        return lax.psum(product, places.free)
    if places.both:
        return _ring_over_columns(a, b, places.columns, multiply)
    if places.b_k is not None:
        if places.a_k is not None:
            a = lax.all_gather(a, places.a_k, axis=1, tiled=True)
        return _ring_over_b(a, b, places.b_k, multiply)
    if places.a_k is not None:
        return _ring_over_a(a, b, places.a_k, multiply)
    return multiply(a, b)


def _sharding(name, array):
    for found in (getattr(array, "sharding", None), getattr(jax.typeof(array), "sharding", None)):
        if isinstance(found, NamedSharding) and found.mesh.axis_names:
            return found
    raise ArgumentError(f"{name} is not sharded over a mesh; give mesh, a_spec and b_spec")


def _require_divisible(mesh, places, a, b):
    for name, length, axis in (("rows of a", a.shape[0], places.result[0]), ("columns of a", a.shape[1], places.a_k),
                               ("rows of b", b.shape[0], places.b_k), ("columns of b", b.shape[1], places.columns)):
        if axis is not None and length % mesh.shape[axis]:
            raise ArgumentError(f"the {length} {name} cannot be spread over the {mesh.shape[axis]} devices of axis {axis!r}")


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
    require_float32(a=a, b=b)
    words_to_numbers(precision, "run_to_run")
    if a.ndim != 2 or b.ndim != 2:
        raise ArgumentError(f"a has {a.ndim} dimensions and b {b.ndim}; both must be matrices")
    result_shape(a.shape, b.shape)
    mesh = mesh if mesh is not None else _sharding("a", a).mesh
    a_spec = a_spec if a_spec is not None else _sharding("a", a).spec
    b_spec = b_spec if b_spec is not None else _sharding("b", b).spec
    _require_divisible(mesh, _Places(a_spec, b_spec), a, b)
    return _program(mesh, a_spec, b_spec, precision)(a, b)
