"""duogemm.matmul: finds out what kind of arrays it is given."""

import importlib
from typing import Any, Literal, Protocol, TypeVar

from ._layout import number, words_to_numbers
from ._library import ELEMENTS, ArrayTypeError



class _Shaped(Protocol):
    @property
    def shape(self) -> Any: ...

    @property
    def dtype(self) -> Any: ...


class _Exchanged(Protocol):
    def __dlpack__(self, *args: Any, **options: Any) -> Any: ...


class _OnCuda(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


Array = TypeVar("Array", bound=_Shaped | _Exchanged | _OnCuda)
Precision = Literal["fp32", "bf16x6", "f16x3"]
Level = Literal["run_to_run", "everywhere", "batch_invariant"]

# By the top-level module and the name of a class among an array's: the module here that knows such arrays.
_KINDS = {
    ("numpy", "ndarray"): "_numpy",
    ("pyopencl", "Array"): "_pyopencl",
    ("cupy", "ndarray"): "_cupy",
    ("torch", "Tensor"): "_torch",
    **{(module, kind): "jax" for module in ("jax", "jaxlib") for kind in ("Array", "ArrayImpl", "Tracer")},
}
_multiply = {}  # by type
_quick = {}  # by type: what multiplies usual arrays without any more of Python, and answers None for others


def _known(kind):
    """The class among a type's that is known here, or object, and the name of the module for it."""
    for base in kind.__mro__:
        module = _KINDS.get((base.__module__.partition(".")[0], base.__name__))
        if module:
            return base, module
    return object, "_interchange"


def _find(array):
    base, module = _known(type(array))
    if base is object and not hasattr(array, "__cuda_array_interface__") and not hasattr(array, "__dlpack__"):
        raise ArrayTypeError(f"a is {_name(array)}; it must be an array of NumPy, pyopencl, CuPy, PyTorch, JAX, or DLPack")
    return learn(type(array), importlib.import_module("." + module, __package__).multiply)


def learn(kind, function):
    """From now on arrays of this type are multiplied by that function."""
    _multiply[kind] = function
    return function


def learn_quick(kind, function):
    """From now on arrays of this type are given to that function first."""
    _quick[kind] = function


def _name(array):
    return f"{type(array).__module__}.{type(array).__qualname__}"


def named(a, b, out):
    """What there is of them, by names."""
    return {"a": a, "b": b} if out is None else {"a": a, "b": b, "out": out}


def require_kind(kind, **arrays):
    """Raises unless all are of that class."""
    for name, array in arrays.items():
        if not isinstance(array, kind):
            raise ArrayTypeError(f"{name} is {_name(array)}; it must be {kind.__module__}.{kind.__qualname__}, as a is")


def refuse_elements(name, dtype):
    """Raises because elements are none that can be multiplied."""
    raise ArrayTypeError(f"{name} is of {dtype}; it must be of float32, bfloat16 or float16")


def elements_of(a, b, out):
    """What the elements of three arrays with NumPy's types are, in words. Without an `out`, its are float32."""
    for name, array in named(a, b, out).items():
        if array.dtype.name not in ELEMENTS or not array.dtype.isnative:
            refuse_elements(name, array.dtype)
    return a.dtype.name, b.dtype.name, "float32" if out is None else out.dtype.name


def require_no_meaning(**arrays):
    """Raises where an array's class gives NumPy's functions a meaning of its own, such as units, which would be lost."""
    for name, array in arrays.items():
        if getattr(type(array), "__array_ufunc__", None) is not getattr(_known(type(array))[0], "__array_ufunc__", None):
            raise ArrayTypeError(f"{name} is {_name(array)}, whose __array_ufunc__ would be ignored (give the array without it)")


def matmul(
    a: Array,
    b: Array,
    *,
    out: Array | None = None,
    alpha: float = 1,
    beta: float = 0,
    precision: Precision = "fp32",
    level: Level = "run_to_run",
) -> Array:
    """Multiplies arrays as numpy.matmul does, in float32: alpha * (a @ b), or with out: out <- alpha * (a @ b) + beta * out.

    Parameters
    ----------
    a, b : array
        Both of one kind. NumPy's arrays are multiplied on the default device (DUOGEMM_DEVICE, or the best there is), and the result
        is there on return. Arrays of pyopencl, CuPy, PyTorch and JAX are multiplied where they are, on their queue or current
        stream, like any other operation on them. Arrays with more than two dimensions are batches, whose leading dimensions are
        broadcast. Views are taken as they are where BLAS can: rows or columns must be contiguous. Each may have elements of
        float32, bfloat16 or float16.
    out : array, optional
        Where the result goes; it may not overlap a or b. With beta 0 it is not read. By default the result is a new array of float32.
        Elements of 16 bits are rounded once.
    alpha, beta : float
        Factors of the product, and of what `out` holds.
    precision : {"fp32", "bf16x6", "f16x3"}
        What the products may be computed with: FP32, or tensor cores in "bf16x6" or "f16x3", which are as accurate. It is a
        permission: where the device has nothing else, the library computes in FP32.
    level : {"run_to_run", "everywhere", "batch_invariant"}
        Whether the bits of the result are the same again and again, the same on every device, or, in any precision, the same
        whatever other rows there are.

    Returns
    -------
    array
        The result, `out` where it was given.

    Raises
    ------
    ArgumentError
        A ValueError: sizes, strides, an `out` that overlaps, another device, an unknown word, a scalar that is none.
    ArrayTypeError
        A TypeError: not an array, elements of another type, arrays of two kinds.
    DeviceError
        A RuntimeError: no driver, no memory, a fault of the driver.

    Examples
    --------
    >>> import numpy
    >>> a = numpy.arange(6, dtype="float32").reshape(2, 3)
    >>> matmul(a, a.T)
    array([[ 5., 14.],
           [14., 50.]], dtype=float32)
    """
    quick = _quick.get(type(a))
    result = None if quick is None else quick(a, b, out, alpha, beta, precision, level)
    if result is not None:
        return result
    return matmul_in_python(a, b, out=out, alpha=alpha, beta=beta, precision=precision, level=level)


def matmul_in_python(a, b, *, out=None, alpha=1, beta=0, precision="fp32", level="run_to_run"):
    """The same without the quick functions, which compilers of Python cannot look into."""
    if type(alpha) is not int and type(alpha) is not float:
        alpha = number("alpha", alpha)
    if type(beta) is not int and type(beta) is not float:
        beta = number("beta", beta)
    if type(precision) is not str or type(level) is not str:
        words_to_numbers(precision, level)
    multiply = _multiply.get(type(a)) or _find(a)
    return multiply(a, b, out, alpha, beta, precision, level)
