"""matmul: a call of the library within a program of XLA."""

import ctypes
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.custom_batching import custom_vmap
from jax.sharding import NamedSharding, PartitionSpec

from .._errors import ArrayTypeError, DeviceError
from .._layout import result_shape, words_to_numbers
from .._library import FOLDER
from .._matmul import Level, Precision

_TARGET = "duogemm_product"


def _register():
    path = FOLDER / "libduogemm_jax.so"
    if not path.exists():
        raise DeviceError("JAX cannot be served: this duogemm was built without jaxlib's headers")
    library = ctypes.CDLL(str(path))
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(library.duogemm_jax_host), platform="cpu")
    if hasattr(library, "duogemm_jax_cuda"):
        jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(library.duogemm_jax_cuda), platform="CUDA")


_register()


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
        product = jnp.matmul(a.mT if transposed_a else a, b.mT if transposed_b else b)
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
    return _sum_to(to_a, a.shape), _sum_to(to_b, b.shape)


_product.defvjp(_forward, _backward)


def require_float32(**arrays):
    """Raises unless all have elements of float32."""
    for name, array in arrays.items():
        dtype = getattr(array, "dtype", None)
        if dtype != jnp.float32:
            raise ArrayTypeError(f"{name} is {f'of {dtype}' if dtype else type(array).__qualname__}; it must be an array of float32")


def matmul(a: jax.Array, b: jax.Array, *, precision: Precision = "fp32", level: Level = "run_to_run") -> jax.Array:
    """a @ b by duogemm, for arrays of float32 with any number of batch dimensions, which are broadcast as jnp.matmul does.

    Under jit, grad, vmap and shard_map, on a CPU (the library's default device) and on CUDA. See duogemm.matmul.
    """
    require_float32(a=a, b=b)
    words_to_numbers(precision, level)
    shape = result_shape(a.shape, b.shape)
    rows = a[None] if a.ndim == 1 else a
    columns = b[:, None] if b.ndim == 1 else b
    if columns.ndim == 2 and rows.ndim > 2 and not _axes(rows):
        rows = rows.reshape(-1, rows.shape[-1])  # one multiplication by what the batch shares
    dimensions = max(rows.ndim, columns.ndim)
    rows, columns = (array.reshape((1,) * (dimensions - array.ndim) + array.shape) for array in (rows, columns))
    return _product(*_alike(rows, columns), False, False, (precision, level), None).reshape(shape)
