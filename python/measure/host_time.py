#!/usr/bin/env python3
"""What a call costs the host, on arrays of CuPy and PyTorch: python/measure/host_time.py FILE.

Beside duogemm.matmul stand CuPy's and PyTorch's own product and the bare C function, called from Python with all that it needs.
`above the C function` is the time of duogemm.matmul less that of the C function, with what a call from Python takes that does nothing
added again.
"""

import functools

import cupy
import torch
from record import Record, in_turns

import duogemm
from duogemm._layout import call_for
from duogemm._library import cuda_sgemm

SIZE, CALLS, ROUNDS = 4096, 50, 10
FLOAT32 = ("float32",) * 3  # what the elements of a, b and out are


def repeated(call):
    """The host's queue of launches is deep enough for as many without waiting."""

    def run():
        for _ in range(CALLS):
            call()

    return run


def bare(a, b, out, stream):
    """The C function on the same arrays, with nothing to find out."""
    call = call_for((SIZE, SIZE), (SIZE, 1), (SIZE, SIZE), (SIZE, 1), ((SIZE, SIZE), (SIZE, 1)), FLOAT32, False, 1, 0, "fp32", "run_to_run")
    return functools.partial(cuda_sgemm, stream, call.reference, a, b, out)


def nothing():
    """A call of the C function that has nothing to do."""
    call = call_for((0, SIZE), (SIZE, 1), (SIZE, SIZE), (SIZE, 1), None, FLOAT32, False, 1, 0, "fp32", "run_to_run")
    return functools.partial(cuda_sgemm, 0, call.reference, 256, 256, 256)


def measure(record, case, arrays, stream, others, wait):
    a, b, out, addresses = arrays
    contenders = {
        "duogemm.matmul, out": lambda: duogemm.matmul(a, b, out=out),
        "duogemm.matmul, new": lambda: duogemm.matmul(a, b),
        "C function": bare(*addresses, stream),
        "C function, nothing": nothing(),
        **others,
    }
    samples = in_turns({name: repeated(call) for name, call in contenders.items()}, ROUNDS, wait)
    each = {name: [value / CALLS for value in values[3:]] for name, values in samples.items()}
    for name, values in each.items():
        record.add(case, name, values)
    for name in ("out", "new"):
        above = [x - y + z for x, y, z in zip(each[f"duogemm.matmul, {name}"], each["C function"], each["C function, nothing"])]
        record.add(case, f"above the C function, {name}", above)


def main():
    record = Record("host time of a call", torch.cuda.get_device_name(0), [cupy, torch])
    a, b, out = (cupy.ones((SIZE, SIZE), "float32") for _ in range(3))
    others = {"cupy.matmul, out": lambda: cupy.matmul(a, b, out=out), "cupy.matmul, new": lambda: cupy.matmul(a, b)}
    addresses = [array.data.ptr for array in (a, b, out)]
    measure(record, f"CuPy {SIZE}", (a, b, out, addresses), cupy.cuda.get_current_stream().ptr, others, cupy.cuda.Device().synchronize)
    x, y, z = (torch.ones(SIZE, SIZE, device="cuda") for _ in range(3))
    others = {"torch.mm, out": lambda: torch.mm(x, y, out=z), "torch.mm, new": lambda: torch.mm(x, y)}
    addresses = [tensor.data_ptr() for tensor in (x, y, z)]
    measure(record, f"PyTorch {SIZE}", (x, y, z, addresses), torch.cuda.current_stream().cuda_stream, others, torch.cuda.synchronize)
    record.write()


if __name__ == "__main__":
    main()
