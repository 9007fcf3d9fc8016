"""pyopencl's arrays, on their queue."""

import pytest
from cases import SHAPES
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


@pytest.mark.parametrize("shapes", [shapes for shapes in SHAPES if 0 not in shapes[0]], ids=str)
def test_shapes(queue, random, shapes):
    a, b = (random(*shape) for shape in shapes)
    result = duogemm.matmul(cl_array.to_device(queue, a), cl_array.to_device(queue, b))
    expect_product(result.get(), a, b)


def test_transposed_and_out(queue, random):
    a, b, c = random(7, 5), random(7, 6), random(5, 6)
    out = cl_array.to_device(queue, c)
    assert duogemm.matmul(cl_array.to_device(queue, a).T, cl_array.to_device(queue, b), out=out, alpha=2) is out
    expect_product(out.get(), a.T, b, 2)


def test_offsets(queue, random):
    whole = random(3, 5, 5)
    on_device = cl_array.to_device(queue, whole)
    duogemm.matmul(on_device[0], on_device[1], out=on_device[2])
    expect_product(on_device.get()[2], whole[0], whole[1])
    assert (on_device.get()[:2] == whole[:2]).all()


def test_events(queue, random):
    a, b = random(64, 64), random(64, 64)
    first = duogemm.matmul(cl_array.to_device(queue, a), cl_array.to_device(queue, b))
    assert first.events
    other = cl.CommandQueue(queue.context)
    second = duogemm.matmul(first.with_queue(other), cl_array.to_device(other, b))
    expect_product(second.get(), first.get(), b)


def test_memory_pool(queue, random):
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    a, b = random(5, 7), random(7, 6)
    on_device = [cl_array.to_device(queue, array, allocator=pool) for array in (a, b, random(5, 6))]
    assert duogemm.matmul(*on_device[:2], out=on_device[2]) is on_device[2]
    expect_product(on_device[2].get(), a, b)
    expect_product(duogemm.matmul(*on_device[:2]).get(), a, b)


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


def test_refusals(queue, random):
    a = cl_array.to_device(queue, random(4, 4))
    with pytest.raises(TypeError, match="of float64"):
        duogemm.matmul(a, cl_array.to_device(queue, random(4, 4).astype("float64")))
    with pytest.raises(TypeError, match="b is numpy.ndarray"):
        duogemm.matmul(a, random(4, 4))
    with pytest.raises(ValueError, match="out overlaps a"):
        duogemm.matmul(a, a, out=a)
    with pytest.raises(duogemm.Error, match="queue"):
        duogemm.matmul(a.with_queue(None), a.with_queue(None))
    elsewhere = cl.CommandQueue(cl.Context(queue.context.devices))
    with pytest.raises(duogemm.ArgumentError, match="b is in another context"):
        duogemm.matmul(a, cl_array.to_device(elsewhere, random(4, 4)))
