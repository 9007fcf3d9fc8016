#!/usr/bin/env python3
"""Products of BF16 activations and FP32 weights into FP32: python/measure/narrow.py FILE.

Beside duogemm.matmul stands what a user of PyTorch does today: the activations in FP32 and torch.mm, in FP32 and in TF32. Weights are
K x N as torch.nn.Linear has them, transposed. Errors are the largest of 16 rows, in units of 2^-24 |a| |b|.
"""

import torch
from record import Record, in_turns

import duogemm

ROUNDS = 15
# (rows, columns, k): the router of a mixture of experts, layers, and squares.
SHAPES = [(64, 128, 6144), (1024, 128, 6144), (16384, 128, 6144), (4096, 4096, 4096), (8192, 8192, 8192)]


def in_tf32(call):
    """PyTorch's product with tensor cores permitted."""

    def run():
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            return call()
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return run


def timed(call, stream=None):
    """The call and all that it starts, many at once, so that the host's time does not count."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    call()
    with torch.cuda.graph(graph):
        for _ in range(10):
            call()

    def run():
        graph.replay()
        torch.cuda.synchronize()

    return run


def units(product, a, b):
    """The error of the first rows."""
    rows = slice(0, 16)
    exact = a[rows].double() @ b.double()
    scale = a[rows].double().abs() @ b.double().abs()
    return float(((product[rows].double() - exact).abs() / scale).max()) * 2**24


def main():
    torch.manual_seed(1)  # a number too small for a block of terms takes a tile to FP32, and a millisecond
    record = Record("products of BF16 and FP32", torch.cuda.get_device_name(0), [torch])
    for rows, columns, k in SHAPES:
        case = f"{rows} x {columns} x {k}"
        a = torch.randn(rows, k, device="cuda").bfloat16()
        weights = (torch.rand(columns, k, device="cuda") - 0.5).T
        both = weights.bfloat16()
        contenders = {
            "torch.mm of a.float()": lambda: torch.mm(a.float(), weights),
            "torch.mm of a.float(), TF32": in_tf32(lambda: torch.mm(a.float(), weights)),
            "duogemm, fp32": lambda: duogemm.matmul(a, weights),
            "duogemm, f16x3": lambda: duogemm.matmul(a, weights, precision="f16x3"),
            "duogemm, bf16x6": lambda: duogemm.matmul(a, weights, precision="bf16x6"),
            "duogemm, f16x3 of a.float()": lambda: duogemm.matmul(a.float(), weights, precision="f16x3"),
            "duogemm, f16x3, both BF16": lambda: duogemm.matmul(a, both, precision="f16x3"),
        }
        for name, call in contenders.items():
            print(f"{case}, {name}: error {units(call(), a, both if 'both' in name else weights):.2f}", flush=True)
        samples = in_turns({name: timed(call) for name, call in contenders.items()}, ROUNDS)
        for name, seconds in samples.items():
            record.add(case, name, [each / 10 for each in seconds], 2 * rows * columns * k)
    record.write()


if __name__ == "__main__":
    main()
