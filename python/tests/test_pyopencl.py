"""pyopencl's arrays, on their queue."""

import pytest
from cases import Products, refused
from conftest import expect_product

import duogemm

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")
pytest.importorskip("pyopencl.tools")


@pytest.fixture(scope="module")
def queue():
    """On the first device."""
    try:
        platforms = cl.get_platforms()
        devices = [device for platform in platforms for device in platform.get_devices()]
    except cl.Error as error:
        pytest.skip(f"pyopencl finds no device: {error}")
    if not devices:
        pytest.skip("pyopencl finds no device")
    return cl.CommandQueue(cl.Context(devices[:1]))


@pytest.fixture(scope="module")
def array(queue, random):
    """Makes a random array of a shape."""

    def make(*shape):
        if 0 in shape:
            pytest.skip("pyopencl's arrays are not empty")
        return cl_array.to_device(queue, random(*shape))

    return make


class TestProducts(Products):
    def narrow(self, array, word):
        return cl_array.to_device(array.queue, array.get().astype(word))  # pyopencl has no such conversion


def test_transposed_and_out(array):
    a, b, out = array(7, 5), array(7, 6), array(5, 6)
    assert duogemm.matmul(a.T, b, out=out, alpha=2) is out
    expect_product(out, a.get().T, b, 2)


def test_offsets(array):
    on_device = array(3, 5, 5)
    whole = on_device.get()
    duogemm.matmul(on_device[0], on_device[1], out=on_device[2])
    expect_product(on_device.get()[2], whole[0], whole[1])
    assert (on_device.get()[:2] == whole[:2]).all()


def test_events(queue, array):
    b = array(64, 64)
    first = duogemm.matmul(array(64, 64), b)
    assert first.events
    other = cl.CommandQueue(queue.context)
    expect_product(duogemm.matmul(first.with_queue(other), b.with_queue(other)), first, b)


def test_memory_pool(queue, random):
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    a, b = random(5, 7), random(7, 6)
    on_device = [cl_array.to_device(queue, array, allocator=pool) for array in (a, b, random(5, 6))]
    assert duogemm.matmul(*on_device[:2], out=on_device[2]) is on_device[2]
    expect_product(on_device[2], a, b)
    expect_product(duogemm.matmul(*on_device[:2]), a, b)


def test_sub_buffers(queue, random):
    """An operand in a sub-buffer of the buffer that out is in."""
    side, step = 32, 8192  # bytes, which any device takes for the beginning of a sub-buffer
    whole = random(4, step // 4 // side, side)
    on_device = cl_array.to_device(queue, whole)

    def part(first, offset=0, rows=side):
        memory = on_device.base_data.get_sub_region(first * step, step)
        return cl_array.Array(queue, (rows, side), "float32", data=memory, offset=offset)

    a = part(1)
    for out in (on_device[1, :side], on_device[1, 8 : 8 + side], part(1), part(1, 128 * 8, side)):
        with pytest.raises(ValueError, match="out overlaps a"):
            duogemm.matmul(a, part(2), out=out)
        with pytest.raises(ValueError, match="out overlaps b"):
            duogemm.matmul(part(2), a, out=out)
    assert (on_device.get() == whole).all()
    duogemm.matmul(a, part(2), out=on_device[3, :side])
    duogemm.matmul(a, part(2), out=part(1, 128 * side))
    found = on_device.get()
    expect_product(found[3, :side], whole[1, :side], whole[2, :side])
    expect_product(found[1, side:], whole[1, :side], whole[2, :side])


def test_shared_virtual_memory(queue, random):
    try:
        pool = cl.tools.SVMPool(cl.tools.SVMAllocator(queue.context, queue=queue))
        a = cl_array.to_device(queue, random(4, 4), allocator=pool)
    except (AttributeError, cl.Error) as error:
        pytest.skip(f"there is no shared virtual memory: {error}")
    with pytest.raises(ValueError, match="a is in shared virtual memory"):
        duogemm.matmul(a, a)


def test_refusals(queue, array):
    a, host = array(4, 4), array(4, 4).get()
    elsewhere = cl_array.to_device(cl.CommandQueue(cl.Context(queue.context.devices)), host)
    refused(TypeError, "of float64", a, cl_array.to_device(queue, host.astype("float64")))
    refused(TypeError, "b is numpy.ndarray", a, host)
    refused(ValueError, "out overlaps a", a, a, out=a)
    refused(ValueError, "queue", a.with_queue(None), a.with_queue(None))
    refused(ValueError, "b is in another context", a, elsewhere)
