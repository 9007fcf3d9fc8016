"""How arrays become BLAS problems, and what is said where there is no device. None is needed."""

import os
import subprocess
import sys

import numpy
import pytest

import duogemm
from duogemm import _layout
from duogemm._layout import call_for, contiguous


def call(a, b, out=None, a_strides=None, b_strides=None, out_strides=None):
    """For contiguous arrays of these shapes, or others' strides in elements."""
    layout = None if out is None else (out, out_strides or contiguous(out))
    return call_for(a, a_strides or contiguous(a), b, b_strides or contiguous(b), layout, ("float32",) * 3, False, 1, 0, "fp32", "run_to_run")


@pytest.mark.parametrize("arrays, expected", [
    (dict(a=(8, 5, 7), b=(7, 4)), dict(batch=1, m=40, n=4, k=7)),  # a shared operand makes one multiplication
    (dict(a=(8, 1, 7), b=(7, 4)), dict(batch=1, m=8, lda=7, ldc=4)),  # as does a decoding step
    (dict(a=(8, 1, 7), b=(7, 4), out=(8, 1, 4), a_strides=(11, 11, 1), out_strides=(9, 9, 1)),  # and rows of wider arrays
     dict(batch=1, m=8, lda=11, ldc=9)),
    (dict(a=(8, 5, 7), b=(7, 4), out=(8, 5, 4), a_strides=(55, 11, 1), out_strides=(45, 9, 1)), dict(batch=1, m=40, lda=11, ldc=9)),
    (dict(a=(8, 5, 7), b=(7, 4), out=(8, 5, 4), out_strides=(50, 9, 1)),  # a wider out beside contiguous rows is a batch
     dict(batch=8, m=5, ldc=9, c_stride=50)),
    (dict(a=(5, 7), b=(8, 7, 4)), dict(batch=8, a_stride=0, b_stride=28, c_stride=20)),  # as is a shared first operand
    (dict(a=(2, 3, 5, 7), b=(2, 3, 7, 4)), dict(batch=6)),  # neighbouring dimensions are one
    (dict(a=(5, 7), b=(7, 4), a_strides=(1, 5)), dict(layout=1, a_op=1, lda=5, b_op=0, ldb=4)),  # a transposed view is a transpose
], ids=str)
def test_one_call(arrays, expected):
    found = call(**arrays)
    assert {name: getattr(found.problem, name) for name in expected} == expected
    assert len(found.offsets) == 1


def test_what_is_no_single_batch_is_several_calls():
    found = call((2, 1, 5, 7), (3, 7, 4))
    assert (found.problem.batch, found.offsets) == (3, ((0, 0, 0), (4 * 35, 0, 4 * 60)))


def test_an_empty_result_is_no_call():
    assert call((0, 7), (7, 4)).offsets == ()


def test_known_layouts_are_looked_up():
    assert call((5, 7), (7, 4)) is call((5, 7), (7, 4))


@pytest.mark.parametrize(
    "variables, words",
    [({"OCL_ICD_VENDORS": "/nowhere", "OCL_ICD_FILENAMES": "", "DUOGEMM_DEVICE": "opencl"}, "no opencl device was found"), ({"DUOGEMM_DEVICE": "opencl:99"}, "opencl:99")],
)
def test_no_device(variables, words):
    program = """
import numpy, duogemm
out = numpy.zeros((2, 2), "float32")
try:
    duogemm.matmul(numpy.ones((2, 2), "float32"), numpy.ones((2, 2), "float32"), out=out)
except duogemm.Error as error:
    print(error, out.sum())
"""
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    assert words in done.stdout
    assert done.stdout.endswith(" 0.0\n")


def test_no_cuda(monkeypatch):
    class Foreign:
        """In CUDA's memory, or so it says."""

        __cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f4", "data": (4096, False), "version": 3}

    monkeypatch.setattr(_layout, "cuda_sgemm", None)
    with pytest.raises(duogemm.DeviceError, match="built without CUDA"):
        duogemm.matmul(Foreign(), Foreign(), out=numpy.zeros((2, 2), "float32"))
