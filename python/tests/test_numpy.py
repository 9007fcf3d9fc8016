"""NumPy's arrays, through the library's calls on host memory."""

import concurrent.futures
import decimal
import fractions
import itertools
import os
import subprocess
import sys

import numpy
import pytest
from cases import STORED, StridedProducts, refused
from conftest import expect_product

import duogemm
from duogemm._library import calls, cuda_sgemm

pytestmark = pytest.mark.usefixtures("host_device")
LARGEST = float(numpy.finfo("float32").max)


@pytest.fixture(scope="module")
def array(random):
    """Makes a random array of a shape."""
    return random


class TestProducts(StridedProducts):
    def module(self):
        from duogemm import _numpy

        return _numpy

    def test_short_way(self, array, monkeypatch):
        if calls is None:
            pytest.skip("the package was built without Python's headers")
        super().test_short_way(array, monkeypatch)


def test_what_fails_in_c_is_not_tried_again():
    if calls is None:
        pytest.skip("the package was built without Python's headers")
    twice = """
import numpy, duogemm, duogemm._numpy
a = numpy.ones((4, 4), "float32")
duogemm._matmul.matmul_in_python = None
try:
    duogemm.matmul(a, a, out=a.copy(), beta=1)
except duogemm.ArgumentError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", twice], env={**os.environ, "DUOGEMM_DEVICE": "nothing"}, capture_output=True, text=True)
    assert "DUOGEMM_DEVICE 'nothing'" in said.stdout, said.stderr


@pytest.mark.parametrize("stored", list(itertools.product(STORED, repeat=3)), ids="-".join)
def test_views(random, stored):
    made = [STORED[name] for name in stored]
    for batches in ((), (3,)):
        whole = [random(*shape_of(*batches, *shape)) for (shape_of, _), shape in zip(made, ((6, 5), (5, 7), (6, 7)))]
        a, b, out = (view(array) for (_, view), array in zip(made, whole))
        around = whole[2].copy()
        made[2][1](around)[...] = 0
        assert duogemm.matmul(a, b, out=out) is out
        expect_product(out, a, b)
        out[...] = 0
        assert (whole[2] == around).all(), "something beside out was written"


def test_scalars(random):
    a, b, out = ((8 * random(*shape)).round() for shape in ((6, 5), (5, 7), (6, 7)))
    exact = -0.5 * (a @ b) + 2 * out
    duogemm.matmul(a, b, out=out, alpha=-0.5, beta=numpy.float32(2))
    assert (out == exact).all()


@pytest.mark.parametrize("two", [2, 2.0, numpy.float32(2), numpy.int64(2), numpy.array(2), fractions.Fraction(2), decimal.Decimal(2)], ids=repr)
def test_kinds_of_numbers(random, two):
    a, b = random(6, 5), random(5, 7)
    expect_product(duogemm.matmul(a, b, alpha=two), a, b, 2)
    expect_product(duogemm.matmul(a, b, alpha=True), a, b)
    one = numpy.ones((1, 1), "float32")
    assert duogemm.matmul(one, one, alpha=LARGEST) == LARGEST
    for special in (numpy.nan, numpy.inf):
        assert not numpy.isfinite(duogemm.matmul(a, b, alpha=special)).any()


def test_beta_0_does_not_read_out(random):
    a, b, out = random(6, 5), random(5, 7), numpy.full((6, 7), numpy.nan, "float32")
    expect_product(duogemm.matmul(a, b, out=out), a, b)


@pytest.mark.parametrize("length", (50, 4096, 9000))
def test_same_bits_everywhere(random, length):
    """Whatever else is multiplied at once."""
    a, b = random(6, length), random(length, 3)
    total = numpy.zeros((6, 3), "float32")
    for first in range(0, length, 4096):
        chain = numpy.zeros((6, 3))
        for k in range(first, min(first + 4096, length)):  # exact in double, but for one addition, seldom rounded twice
            chain = (a[:, k : k + 1].astype("float64") * b[k] + chain).astype("float32").astype("float64")
        total += chain.astype("float32")
    assert (duogemm.matmul(a, b, level="everywhere") == total).all()
    assert (duogemm.matmul(a[2:3], b, level="everywhere") == total[2]).all()
    assert (duogemm.matmul(a, b, level="batch_invariant") == total).all()


def test_broadcast_batch_without_copy(random):
    a, b = numpy.broadcast_to(random(5, 7), (4, 5, 7)), random(4, 7, 3)
    expect_product(duogemm.matmul(a, b), a, b)


def test_rows_of_a_wider_out(random):
    """Batches of one row, which are multiplied as the rows of one matrix."""
    a, b, whole = random(8, 1, 7), random(7, 4), random(8, 1, 9)
    around = whole[:, :, 4:].copy()
    duogemm.matmul(a, b, out=whole[:, :, :4])
    expect_product(whole[:, :, :4], a, b)
    assert (whole[:, :, 4:] == around).all(), "something beside out was written"
    wide = random(8, 1, 10)
    expect_product(duogemm.matmul(wide[:, :, 2:9], b), wide[:, :, 2:9], b)


def test_out_beside_an_operand(random):
    whole, b = random(6, 10), random(5, 5)
    a = whole[:, :5]
    copy = a.copy()
    duogemm.matmul(a, b, out=whole[:, 5:])
    expect_product(whole[:, 5:], copy, b)
    assert (a == copy).all()


def test_wrong_types(random):
    a, b = random(4, 4), random(4, 4)
    refused(TypeError, "a is of float64", a.astype("float64"), b)
    refused(TypeError, "b is of int32", a, b.astype("int32"))
    refused(TypeError, "out is of float64", a, b, out=numpy.ones((4, 4)))
    refused(TypeError, "a is of >f4", a.astype(">f4"), b)
    refused(TypeError, "a is builtins.list", [[1.0]], b)
    refused(TypeError, "b is builtins.list", a, [[1.0]])
    refused(TypeError, "masked", numpy.ma.masked_array(a, a > 0), b)


def test_subclasses(random, tmp_path):
    class Metres(numpy.ndarray):
        """Knows its unit, and what functions make of it."""

        def __array_ufunc__(self, function, method, *arguments, **named):
            return NotImplemented

    class Untouchable(numpy.ndarray):
        """No function of NumPy's takes it."""

        __array_ufunc__ = None

    class Plain(numpy.ndarray):
        """Has a name and nothing else of its own."""

    class Foreign:
        """Has DLPack, and a meaning of its own."""

        __array_ufunc__ = Metres.__array_ufunc__

        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    a, b = random(4, 4), random(4, 4)
    for kind in (Metres, Untouchable):
        refused(TypeError, f"a is .*{kind.__name__}, whose __array_ufunc__", a.view(kind), b)
        refused(TypeError, f"b is .*{kind.__name__}, whose __array_ufunc__", a, b.view(kind))
        refused(TypeError, f"out is .*{kind.__name__}, whose __array_ufunc__", a, b, out=random(4, 4).view(kind))
    refused(TypeError, "a is .*Foreign, whose __array_ufunc__", Foreign(a), b)
    expect_product(duogemm.matmul(a.view(Plain), b), a, b)
    on_disk = numpy.memmap(tmp_path / "b", "float32", "w+", shape=(4, 4))
    on_disk[...] = b
    expect_product(duogemm.matmul(a, on_disk), a, b)


def test_wrong_shapes(random):
    a = random(4, 4)
    refused(ValueError, "inner dimensions differ", a, random(5, 4))
    refused(ValueError, "batches differ", random(2, 4, 4), random(3, 4, 4))
    refused(ValueError, "scalar", numpy.array(1, "float32"), a)
    refused(ValueError, r"the result's is \(4, 4\)", a, a, out=random(4, 5))


def test_wrong_strides(random):
    a, whole = random(4, 4), random(8, 8)
    refused(ValueError, "one must be 1", whole[::2, ::2], a)
    refused(ValueError, "negative", a[::-1], a)
    refused(ValueError, "out: strides", a, a, out=whole[::2, ::2])
    refused(ValueError, "one must be 1", numpy.broadcast_to(random(1, 4), (4, 4)), a)
    shared = numpy.lib.stride_tricks.as_strided(whole, (3, 4, 4), (0, 32, 4))
    refused(ValueError, "elements of its shape", random(3, 4, 4), a, out=shared)
    unaligned = numpy.frombuffer(bytearray(65), "uint8")[1:].view("float32").reshape(4, 4)
    refused(ValueError, "not aligned", unaligned, a)


def test_overlap(random):
    whole, b = random(6, 6), random(6, 6)
    refused(ValueError, "out overlaps a", whole, b, out=whole)
    refused(ValueError, "out overlaps b", b, whole, out=whole)
    refused(ValueError, "out overlaps a", whole[:4, :3], b[:3, :3], out=whole[:4, 2:5])
    refused(ValueError, "out overlaps a", whole[:3], b, out=whole[2:5])


def test_wrong_words(random):
    a, b = random(4, 4), random(4, 4)
    refused(ValueError, "precision is 'fp8'", a, b, precision="fp8")
    refused(ValueError, "level is 'never'", a, b, level="never")
    refused(ValueError, r"precision is \['fp32'\]", a, b, precision=["fp32"])
    refused(ValueError, "alpha is 'x'", a, b, alpha="x")
    for word in ("2", b"2", bytearray(b"2"), numpy.str_("2"), 1j, numpy.complex64(2), numpy.array(2j), None, [2], numpy.ones(2)):
        refused(ValueError, "alpha is .*; it must be a real number", a, b, alpha=word)
        refused(ValueError, "beta is .*; it must be a real number", a, b, out=random(4, 4), beta=word)
    for large in (10**400, 1e40, -1e40, numpy.float64(1e300), fractions.Fraction(10**40), 10**5000):
        refused(ValueError, "alpha is too large", a, b, alpha=large)
        refused(ValueError, "beta is too large", a, b, out=random(4, 4), beta=large)
    refused(ValueError, "beta is 2 and there is no out", a, b, beta=2)
    out = random(4, 4)
    out.flags.writeable = False
    refused(ValueError, "read-only", a, b, out=out)


def test_dlpack(random):
    class Foreign:
        """Has DLPack and nothing else."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **named):
            return self.array.__dlpack__(**named)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Elsewhere(Foreign):
        """On a device that is neither a CPU nor CUDA's."""

        def __dlpack_device__(self):
            return 10, 0

    class Kept(Foreign):
        """Is not given away."""

        def __dlpack__(self, **named):
            raise BufferError("it is kept")

    a, b = random(4, 5), random(5, 6)
    expect_product(duogemm.matmul(Foreign(a), Foreign(b)), a, b)
    refused(ValueError, "kind 10", Elsewhere(a), Elsewhere(b))
    refused(ValueError, "it is kept", Foreign(a), Kept(b))
    refused(TypeError, "which has no DLPack", Foreign(a), [[1.0]])


def test_cuda_array_interface():
    class Foreign:
        """Has __cuda_array_interface__ and nothing else."""

        def __init__(self, kind, address):
            self.__cuda_array_interface__ = {"shape": (4, 4), "typestr": kind, "data": (address, False), "version": 3}

    if cuda_sgemm is None:
        refused(RuntimeError, "without CUDA", *(Foreign("<f4", 256),) * 2)
        return
    right, out = Foreign("<f4", 256), Foreign("<f4", 1 << 20)
    refused(ValueError, "out is missing", right, right)
    refused(TypeError, "a is of float64", Foreign("<f8", 256), right, out=out)
    refused(TypeError, "b: data type", right, Foreign("junk", 256), out=out)
    refused(ValueError, "out overlaps a", right, right, out=right)


def test_threads(random):
    a, b = random(40, 50), random(50, 60)
    expected = duogemm.matmul(a, b)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: duogemm.matmul(a, b), range(80)))
    assert all((result == expected).all() for result in results)
