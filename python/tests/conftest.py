"""What the tests share. A kind of array that is not installed, or has no device, is skipped with its reason."""

import ctypes
import os

# Read when JAX starts: as many devices as a mesh may want.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import numpy
import pytest

import duogemm
from duogemm._library import cuda_sgemm


def host(array):
    """Of any kind, as an array of NumPy's."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array if array.element_size() == 4 else array.float()  # NumPy knows none of PyTorch's bfloat16
    return array.get() if hasattr(array, "get") else numpy.asarray(array)


def expect_product(result, a, b, alpha=1.0):
    """Raises unless `result` is alpha * (a @ b) within the library's bound for each element: (2 sqrt(k) + 4) u |alpha| |a| |b|."""
    result, a, b = host(result), host(a).astype("float64"), host(b).astype("float64")
    exact = alpha * (a @ b)
    assert result.shape == exact.shape
    assert result.dtype == numpy.float32
    assert (abs(result - exact) <= (2 * a.shape[-1] ** 0.5 + 4) * 2.0**-24 * abs(alpha) * (abs(a) @ abs(b))).all()


@pytest.fixture(scope="session")
def random():
    """Makes an array of a shape with elements from -1 to 1."""
    generator = numpy.random.default_rng(26)
    return lambda *shape: generator.uniform(-1, 1, shape).astype("float32")


@pytest.fixture(scope="session")
def host_device():
    """Skips where calls on host memory have no device."""
    try:
        duogemm.matmul(numpy.ones((1, 1), "float32"), numpy.ones((1, 1), "float32"))
    except duogemm.DeviceError as error:
        pytest.skip(str(error))
    except duogemm.ArgumentError as error:
        if "device" in str(error):
            pytest.skip(str(error))
        raise


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def torch_device(request):
    """Both kinds of memory that PyTorch's tensors are multiplied in, where there are devices for them."""
    import torch

    if request.param == "cuda":
        if not torch.cuda.is_available() or not has_cuda():
            pytest.skip("no CUDA device was found")
    else:
        request.getfixturevalue("host_device")
    return request.param


@pytest.fixture(scope="module")
def array(torch_device, random):
    """Makes a random tensor of a shape. Tests of other kinds of arrays have their own."""
    import torch

    return lambda *shape, **named: torch.from_numpy(random(*shape)).to(torch_device).requires_grad_(named.get("grad", False))


def has_cuda():
    """Whether the library was built with CUDA and there is a driver with a device."""
    if cuda_sgemm is None:
        return False
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False
