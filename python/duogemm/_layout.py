"""From shapes and strides to BLAS problems: which operand is transposed, its leading dimension, and what is a batch; and their calls.

Nothing here touches an array, and what was worked out once is kept: a call on arrays of known shapes and strides looks it up.
"""

import ctypes
import functools
import itertools
import math
from typing import NamedTuple

from ._library import ELEMENTS, ITEMS, LEVELS, PRECISIONS, ArgumentError, DeviceError, Problem, cuda_sgemm, fail, host_sgemm, last_error

_LARGEST = 2.0**128 - 2.0**104  # float32


class Extent(NamedTuple):
    """What memory an array takes, in bytes."""

    span: int  # from the first element to the end of the last
    width: int  # of a contiguous row or column
    steps: tuple  # the strides between those


class Call(NamedTuple):
    """What a multiplication asks of the library, but for the addresses."""

    reference: int  # the address of the problem, for the library
    problem: Problem
    offsets: tuple  # of a, b and c in bytes, for each call of the library
    shape: tuple  # of the result
    extents: tuple  # of a, b and c


class Matrix(NamedTuple):
    """How BLAS sees the last two dimensions of an array: by rows, by columns, or either way where it has but one of them."""

    by_rows: int  # the leading dimension, or 0 where it is not stored so
    by_columns: int


def _ways(rows, columns, strides):
    row_stride, column_stride = strides
    by_rows = by_columns = 0
    if (column_stride == 1 or columns <= 1) and (rows <= 1 or row_stride >= max(1, columns)):
        by_rows = row_stride if rows > 1 else max(1, columns)
    if (row_stride == 1 or rows <= 1) and (columns <= 1 or column_stride >= max(1, rows)):
        by_columns = column_stride if columns > 1 else max(1, rows)
    return Matrix(by_rows, by_columns)


@functools.lru_cache(maxsize=4096)
def fits(shape, strides):
    """Whether an array with at least two dimensions and strides in elements can be multiplied as it is."""
    return all(stride >= 0 for stride in strides) and any(_ways(*shape[-2:], strides[-2:]))


def _matrix(name, shape, strides):
    (rows, columns), (row_stride, column_stride) = shape[-2:], strides[-2:]
    ways = _ways(rows, columns, (row_stride, column_stride))
    if not any(ways):
        raise ArgumentError(f"{name}: strides of {row_stride} and {column_stride} elements for {rows} x {columns}; one must be 1, and the "
                            "other at least as long as a row or column (make a contiguous copy)")
    return ways


def _in_elements(name, shape, strides, unit):
    if 0 in shape:
        return contiguous(shape)  # there is nothing that strides could tell of
    if any(stride % unit for stride in strides):
        raise ArgumentError(f"{name}: strides of {tuple(strides)} bytes; they must be multiples of {unit}")
    strides = tuple(stride // unit for stride in strides)
    if any(stride < 0 for stride in strides):
        raise ArgumentError(f"{name}: strides of {strides} elements; none may be negative (make a contiguous copy)")
    return strides


def result_shape(a_shape, b_shape):
    """As numpy.matmul has it."""
    return _shapes(a_shape, b_shape)[0]


def _shapes(a_shape, b_shape):
    """Of the result, and of a, b and the result with vectors as matrices."""
    if not a_shape or not b_shape:
        raise ArgumentError("a scalar cannot be multiplied as a matrix")
    a_matrix = (1,) * (len(a_shape) == 1) + tuple(a_shape)
    b_matrix = tuple(b_shape) + (1,) * (len(b_shape) == 1)
    if a_matrix[-1] != b_matrix[-2]:
        raise ArgumentError(f"a has the shape {tuple(a_shape)} and b {tuple(b_shape)}: the inner dimensions differ")
    leading = []
    for x, y in itertools.zip_longest(reversed(a_matrix[:-2]), reversed(b_matrix[:-2]), fillvalue=1):
        if x != y and 1 not in (x, y):
            raise ArgumentError(f"a has the shape {tuple(a_shape)} and b {tuple(b_shape)}: the batches differ")
        leading.append(y if x == 1 else x)
    batches = tuple(reversed(leading))
    result = batches + a_matrix[-2:-1] * (len(a_shape) > 1) + b_matrix[-1:] * (len(b_shape) > 1)
    return result, a_matrix, b_matrix, batches + (a_matrix[-2], b_matrix[-1])


def contiguous(shape):
    """Strides in elements of an array whose last dimension is densest."""
    strides = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        strides[i] = strides[i + 1] * max(1, shape[i + 1])
    return tuple(strides)


def _require_distinct(shape, strides):
    """No element of the result may be another's: each dimension steps over all that is denser."""
    reach = 0
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape) if size > 1):
        if stride <= reach:
            raise ArgumentError(f"out: with strides of {strides} elements, elements of its shape {shape} overlap")
        reach += stride * (size - 1)


def _batch_strides(matrix_shape, strides, batches):
    """0 along what is broadcast."""
    leading = matrix_shape[:-2]
    own = [0 if size == 1 else stride for size, stride in zip(leading, strides)]
    return [0] * (len(batches) - len(leading)) + own


def _merge(sizes, strides):
    """Batch dimensions as (size, strides), neighbours that count on through all three arrays as one."""
    merged = []
    for size, stride in zip(sizes, strides):
        if size == 1:
            continue
        if merged and all(outer == inner * size for outer, inner in zip(merged[-1][1], stride)):
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    return merged


def _set_matrices(problem, a, b, c):
    """The layout is that of the result; an operand stored the other way is transposed."""
    by_rows = c.by_rows != 0
    problem.layout = by_rows
    problem.ldc = c.by_rows or c.by_columns
    for name, matrix in (("a", a), ("b", b)):
        direct, transposed = (matrix.by_rows, matrix.by_columns) if by_rows else (matrix.by_columns, matrix.by_rows)
        setattr(problem, name + "_op", direct == 0)
        setattr(problem, "ld" + name, direct or transposed)


def _stack_rows(problem, size, strides):
    """Whether a batch that shares b is one multiplication by it, of all the rows of a: then the problem becomes it."""
    a, b, c = strides
    if not (problem.layout and b == 0 and problem.a_op == 0 and a >= problem.k and c >= problem.n):
        return False
    if problem.m > 1 and (a != problem.m * problem.lda or c != problem.m * problem.ldc):
        return False
    if problem.m == 1:
        problem.lda, problem.ldc = max(1, a), max(1, c)
    problem.m *= size
    return True


def _set_batches(problem, dimensions):
    """One dimension is the library's batch; the others are calls, whose offsets in elements are the answer."""
    if not dimensions:
        return ((0, 0, 0),)
    inner = max(range(len(dimensions)), key=lambda i: dimensions[i][0])
    size, strides = dimensions.pop(inner)
    if not _stack_rows(problem, size, strides):
        problem.batch = size
        problem.a_stride, problem.b_stride, problem.c_stride = strides
    steps = [[tuple(i * stride for stride in outer) for i in range(count)] for count, outer in dimensions]
    return tuple(tuple(sum(parts) for parts in zip((0, 0, 0), *combination)) for combination in itertools.product(*steps))


def words_to_numbers(precision, level):
    """As the library has them."""
    for kind, word, words in (("precision", precision, PRECISIONS), ("level", level, LEVELS)):
        if not isinstance(word, str) or word not in words:
            raise ArgumentError(f"{kind} is {word!r}; it must be one of {', '.join(words)}")
    return PRECISIONS[precision], LEVELS[level]


def is_scalar(value):
    """Whether it is a number of Python's, and one that float32 has but for rounding."""
    return type(value) in (int, float) and not _LARGEST < abs(value) != math.inf


def number(name, value):
    """As a float that float32 has but for rounding."""
    if type(value) is not int and type(value) is not float:
        value = _as_float(name, value)
    if not is_scalar(value):
        raise ArgumentError(f"{name} is too large: the largest number of float32 is {_LARGEST}")
    return float(value)


def _as_float(name, value):
    """What is real and one number. float() would take words too, and the real part of what is complex."""
    try:
        if hasattr(value, "__float__") and not isinstance(value, (str, bytes)) and "complex" not in str(getattr(value, "dtype", "")):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ArgumentError(f"{name} is {value!r}; it must be a real number")


def _extent(shape, strides, item):
    span = 0 if 0 in shape else item * (1 + sum((size - 1) * stride for size, stride in zip(shape, strides)))
    width = item * (1 + sum(size - 1 for size, stride in zip(shape, strides) if stride == 1))
    return Extent(span, width, tuple(item * stride for size, stride in zip(shape, strides) if size > 1 and stride > 1))


def _with_vectors(strides, shape, matrix_shape, front):
    """Strides of a vector as those of a matrix: in `front` of them or behind, any number for the one row or column."""
    if len(shape) == len(matrix_shape):
        return strides
    return (1, *strides) if front else (*strides, 1)


def _out_strides(out, result, matrix_shape, a_is_vector, unit):
    """Of the result, with vectors as matrices."""
    if out is None:
        return contiguous(matrix_shape)
    shape, strides = out
    if tuple(shape) != result:
        raise ArgumentError(f"out has the shape {tuple(shape)}; the result's is {result}")
    strides = _in_elements("out", shape, strides, unit)
    _require_distinct(result, strides)
    if len(result) == len(matrix_shape):
        return strides
    if len(result) + 2 == len(matrix_shape):
        return (*strides, 1, 1)
    return (*strides[:-1], 1, strides[-1]) if a_is_vector else (*strides, 1)


@functools.lru_cache(maxsize=4096)
def call_for(a_shape, a_strides, b_shape, b_strides, out, elements, in_bytes, alpha, beta, precision, level):
    """The call for arrays of these shapes and strides, which count bytes, or else elements.

    out: shape and strides, or None for an array that is contiguous and new. elements: what those of all three are, in words.
    """
    items = tuple(ITEMS[element] for element in elements)
    units = items if in_bytes else (1, 1, 1)
    result, a_matrix, b_matrix, c_matrix = _shapes(a_shape, b_shape)
    if out is None and beta != 0:
        raise ArgumentError(f"beta is {beta} and there is no out to multiply by it")
    strides = (
        _with_vectors(_in_elements("a", a_shape, a_strides, units[0]), a_shape, a_matrix, True),
        _with_vectors(_in_elements("b", b_shape, b_strides, units[1]), b_shape, b_matrix, False),
        _out_strides(out, result, c_matrix, len(a_shape) == 1, units[2]),
    )
    problem = Problem(m=c_matrix[-2], n=c_matrix[-1], k=a_matrix[-1], alpha=number("alpha", alpha), beta=number("beta", beta), batch=1)
    problem.precision, problem.level = words_to_numbers(precision, level)
    problem.a_type, problem.b_type, problem.c_type = (ELEMENTS[element] for element in elements)
    shapes = (a_matrix, b_matrix, c_matrix)
    _set_matrices(problem, *map(_matrix, ("a", "b", "out"), shapes, strides))
    batches = c_matrix[:-2]
    by_array = [_batch_strides(shape, stride, batches) for shape, stride in zip(shapes, strides)]
    offsets = () if 0 in c_matrix else _set_batches(problem, _merge(batches, list(zip(*by_array))))
    offsets = tuple(tuple(item * offset for item, offset in zip(items, step)) for step in offsets)
    return Call(ctypes.addressof(problem), problem, offsets, result, tuple(map(_extent, shapes, strides, items)))


def require_apart(call, a, b, c):
    """Raises where the result would share memory with an operand. The arguments are addresses, or offsets in one buffer."""
    written = call.extents[2]
    for name, start, read in (("a", a, call.extents[0]), ("b", b, call.extents[1])):
        if start < c + written.span and c < start + read.span and not _beside(read, written, start - c):
            raise ArgumentError(f"out overlaps {name}")


def _beside(read, written, distance):
    """Whether the two stand side by side in the rows of one matrix, which is as far as it can be told by looking."""
    pitch = math.gcd(*read.steps, *written.steps)
    offset = distance % pitch if pitch else 0
    return written.width <= offset and offset + read.width <= pitch


def run_on_host(call, a, b, c):
    """The arguments are addresses."""
    require_apart(call, a, b, c)
    for a_offset, b_offset, c_offset in call.offsets:
        status = host_sgemm(call.reference, a + a_offset, b + b_offset, c + c_offset)
        if status:
            fail(status)


def require_cuda():
    """Raises where the library was built without CUDA."""
    if cuda_sgemm is None:
        raise DeviceError("arrays in CUDA's memory cannot be multiplied: this duogemm was built without CUDA")


def run_on_stream(call, stream, device, a, b, c):
    """stream and a, b, c are addresses; device is the number of theirs, which is the current one, for a thread in which nothing has
    made its context current yet."""
    require_apart(call, a, b, c)
    for a_offset, b_offset, c_offset in call.offsets:
        call_on_device(device, cuda_sgemm, stream, call.reference, a + a_offset, b + b_offset, c + c_offset)


def call_on_device(device, function, *arguments):
    """Calls a function of the library, which answers a status, for the number of the current device."""
    status = function(*arguments)
    lacks_context = status and any(words in last_error() for words in ("no CUDA context is current", "CUDA_ERROR_INVALID_CONTEXT"))
    if lacks_context and _make_current(device):
        status = function(*arguments)
    if status:
        fail(status)


def _make_current(device):
    """Makes a device's primary context current, as the runtime does at a thread's first call that needs it."""
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    return driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and driver.cuCtxSetCurrent(context) == 0
