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
    return call_for(a, a_strides or contiguous(a), b, b_strides or contiguous(b), layout, 1, 1, 0, "fp32", "run_to_run")


def test_a_shared_operand_makes_one_multiplication():
    problem = call((8, 5, 7), (7, 4)).problem
    assert (problem.batch, problem.m, problem.n, problem.k) == (1, 40, 4, 7)


def test_a_decoding_step_makes_one_multiplication():
    problem = call((8, 1, 7), (7, 4)).problem
    assert (problem.batch, problem.m, problem.lda, problem.ldc) == (1, 8, 7, 4)


def test_rows_of_wider_arrays_make_one_multiplication():
    problem = call((8, 1, 7), (7, 4), (8, 1, 4), a_strides=(11, 11, 1), out_strides=(9, 9, 1)).problem
    assert (problem.batch, problem.m, problem.lda, problem.ldc) == (1, 8, 11, 9)
    problem = call((8, 5, 7), (7, 4), (8, 5, 4), a_strides=(55, 11, 1), out_strides=(45, 9, 1)).problem
    assert (problem.batch, problem.m, problem.lda, problem.ldc) == (1, 40, 11, 9)


def test_a_wider_out_beside_contiguous_rows_is_a_batch():
    problem = call((8, 5, 7), (7, 4), (8, 5, 4), out_strides=(50, 9, 1)).problem
    assert (problem.batch, problem.m, problem.ldc, problem.c_stride) == (8, 5, 9, 50)


def test_a_shared_first_operand_is_a_batch():
    problem = call((5, 7), (8, 7, 4)).problem
    assert (problem.batch, problem.a_stride, problem.b_stride, problem.c_stride) == (8, 0, 28, 20)


def test_neighbouring_dimensions_are_one_batch():
    found = call((2, 3, 5, 7), (2, 3, 7, 4))
    assert (found.problem.batch, len(found.offsets)) == (6, 1)


def test_what_is_no_single_batch_is_several_calls():
    found = call((2, 1, 5, 7), (3, 7, 4))
    assert (found.problem.batch, found.offsets) == (3, ((0, 0, 0), (4 * 35, 0, 4 * 60)))


def test_a_transposed_view_is_a_transpose():
    problem = call((5, 7), (7, 4), a_strides=(1, 5)).problem
    assert (problem.layout, problem.a_op, problem.lda, problem.b_op, problem.ldb) == (1, 1, 5, 0, 4)


def test_an_empty_result_is_no_call():
    assert call((0, 7), (7, 4)).offsets == ()


def test_known_layouts_are_looked_up():
    assert call((5, 7), (7, 4)) is call((5, 7), (7, 4))


@pytest.mark.parametrize(
    "variables, words",
    [({"OCL_ICD_VENDORS": "/nowhere", "CUDA_VISIBLE_DEVICES": ""}, "no device was found"), ({"DUOGEMM_DEVICE": "opencl:99"}, "opencl:99")],
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
