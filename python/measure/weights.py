#!/usr/bin/env python3
"""Products of activations and FP32 weights into FP32: python/measure/weights.py FILE.

Of BF16 activations: beside duogemm.matmul stands what a user of PyTorch does today, torch.mm of the activations in FP32, in FP32 and in
TF32. Of few FP32 activations: a layer whose weights were prepared, duogemm.matmul and torch.mm. Weights are K x N as torch.nn.Linear has
them, transposed. Of groups of rows that have weights of their own each, such as tokens and experts: one call for all, and a torch.mm or
duogemm.matmul for each. Errors are the largest of 16 rows, in units of 2^-24 |a| |b|.
"""

import torch
from record import Record, in_turns

import duogemm.torch

ROUNDS = 15
# (rows, columns, k): the router of a mixture of experts, layers, and squares.
FEW_ROWS, SIDE = (1, 16, 64, 256, 1024), 4096
# (groups, most rows of one, columns, k): as many rows as are drawn.
EXPERTS = [(64, 512, 2048, 2048), (64, 8, 2048, 2048), (8, 4096, 4096, 4096)]
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


def timed(call):
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


def compare_groups(record, groups, most, columns, k):
    sizes = torch.randint(1, most + 1, (groups,)).tolist()
    a = torch.randn(sum(sizes), k, device="cuda")
    weights = (torch.rand(groups, columns, k, device="cuda") - 0.5).mT
    ends = torch.tensor(sizes, device="cuda").cumsum(0).to(torch.int32)
    of_groups = list(zip(a.split(sizes), weights))

    def each(multiply):
        return lambda: [multiply(rows, own) for rows, own in of_groups]

    def at_once(precision):
        return lambda: duogemm.torch.grouped_mm(a, weights, offs=ends, precision=precision)

    contenders = {
        "torch.mm for each": each(torch.mm),
        "torch.mm for each, TF32": in_tf32(each(torch.mm)),
        "duogemm.matmul for each, fp32": each(duogemm.matmul),
        "duogemm.matmul for each, f16x3": each(lambda rows, own: duogemm.matmul(rows, own, precision="f16x3")),
        **{f"duogemm.torch.grouped_mm, {precision}": at_once(precision) for precision in ("fp32", "f16x3", "bf16x6")},
    }
    case = f"{groups} groups of up to {most} rows x {columns} x {k}"
    for precision in ("fp32", "f16x3", "bf16x6"):
        product = at_once(precision)()
        worst = max(units(part, rows, own) for part, (rows, own) in zip(product.split(sizes), of_groups))
        print(f"{case}, {precision}: error {worst:.2f}", flush=True)
    compare(record, case, contenders, 2 * len(a) * columns * k)


def compare(record, case, contenders, flops):
    samples = in_turns({name: timed(call) for name, call in contenders.items()}, ROUNDS)
    for name, seconds in samples.items():
        record.add(case, name, [each / 10 for each in seconds], flops)


def main():
    torch.manual_seed(1)  # a number too small for a block of terms takes a tile to FP32, and a millisecond
    torch.set_grad_enabled(False)
    record = Record("products with weights", torch.cuda.get_device_name(0), [torch])
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
        compare(record, case, contenders, 2 * rows * columns * k)
    layer = duogemm.torch.Linear(SIDE, SIDE, bias=False, device="cuda")
    for rows in FEW_ROWS:
        a = torch.randn(rows, SIDE, device="cuda")
        contenders = {
            "torch.mm": lambda: torch.mm(a, layer.weight.T),
            "duogemm, f16x3": lambda: duogemm.matmul(a, layer.weight.T, precision="f16x3"),
            "duogemm.torch.Linear, prepared": lambda: layer(a),
        }
        compare(record, f"{rows} x {SIDE} x {SIDE}, FP32", contenders, 2 * rows * SIDE**2)
    for case in EXPERTS:
        compare_groups(record, *case)
    record.write()


if __name__ == "__main__":
    main()
