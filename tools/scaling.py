#!/usr/bin/env python3
"""What a square product costs on many GPUs, simulated step by step: the figures of docs/scaling.md.

  tools/scaling.py                 prints times, and the sizes that 0.9 of all GPUs' speed needs
  tools/scaling.py --measured SIZE ONE TWO
                                   compares measured seconds, on one GPU and on two, with the simulation

All GPUs do the same at the same time, so one is simulated. It has a link that receives a message while it multiplies, and
memory for the blocks of two steps: those of the next arrive while those of this one are multiplied.
"""

import argparse
import functools
import math
from dataclasses import dataclass

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Machine:
    """Rates of one GPU, per second; the assumptions that docs/scaling.md names."""
    flops: float
    link: float = 392e9      # bytes, to each GPU of a node, both ways at once
    network: float = 50e9    # bytes, to each GPU, between nodes
    latency: float = 10e-6   # seconds before a message begins to arrive
    node: int = 8            # GPUs that links connect

    def receive(self, size, gpus):
        """Seconds for a message on a machine of this many GPUs; the slowest hop of a ring or a broadcast decides."""
        return self.latency + size / (self.link if gpus <= self.node else self.network)


FP32 = Machine(flops=55e12)
F16X3 = Machine(flops=180e12)


def pipeline(steps, receive, multiply):
    """Seconds for steps whose operands take `receive` to arrive and `multiply` to be multiplied; the first are there."""
    arrived, multiplied = [0.0], [multiply]
    for step in range(1, steps):
        free = multiplied[step - 2] if step >= 2 else 0.0
        arrived.append(max(arrived[-1], free) + receive)
        multiplied.append(max(multiplied[-1], arrived[-1]) + multiply)
    return multiplied[-1]


def ring(machine, n, gpus):
    """A by rows, B by columns, C by rows: each GPU passes its columns of B on, once around."""
    columns = n / gpus
    seconds = pipeline(gpus, machine.receive(FLOAT * n * columns, gpus), 2 * n * columns * columns / machine.flops)
    return seconds, FLOAT * n * columns * (gpus - 1)


def summa(machine, n, gpus, copies=1):
    """A square grid: panels of A go along rows and panels of B along columns, and each adds to C where it is. With copies, 2.5D:
    so many grids have all of A and B each, do a share of k each, and add up C."""
    side = math.isqrt(gpus // copies)
    tile = n / side
    steps = max(4 * side // copies, 1)
    depth = n / copies / steps
    panel = FLOAT * 2 * tile * depth * (side - 1) / side  # what the others have of it
    spread = 2 * FLOAT * tile * tile * (copies - 1) / copies  # of A and B before, and of C after, scattered and gathered
    receive = machine.receive(panel, gpus)
    seconds = receive + pipeline(steps, receive, 2 * tile * tile * depth / machine.flops)
    return seconds + (2 * machine.receive(spread, gpus) if copies > 1 else 0), panel * steps + 2 * spread


def efficiency(machine, n, gpus, seconds):
    """One GPU's time, had it all the memory, over what the GPUs take together."""
    return 2 * n ** 3 / machine.flops / (gpus * seconds)


def sizes(gpus):
    """As large as on two GPUs, and with as much for each GPU as two have of that."""
    grown = int(32768 * math.sqrt(gpus / 2) / 1024) * 1024
    return [32768] if gpus == 2 else [32768, grown]


def ways(gpus):
    yield "ring", ring
    for copies, name, least in ((1, "SUMMA", 4), (2, "2.5D, 2 copies", 64), (4, "2.5D, 4 copies", 64)):
        if gpus >= least and gpus % copies == 0 and math.isqrt(gpus // copies) ** 2 == gpus // copies:
            yield name, functools.partial(summa, copies=copies)


def table():
    lines = ["| GPUs | n | way | received by each, GB | FP32: time, s | efficiency | f16x3: time, s | efficiency |",
             "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"]
    for gpus in (2, 8, 64, 1024):
        for n in sizes(gpus):
            for name, way in ways(gpus):
                (slow, size), (fast, _) = way(FP32, n, gpus), way(F16X3, n, gpus)
                lines.append(f"| {gpus} | {n} | {name} | {size * 1e-9:.2f} | {slow:.4g} | {efficiency(FP32, n, gpus, slow):.2f} | "
                             f"{fast:.4g} | {efficiency(F16X3, n, gpus, fast):.2f} |")
    return "\n".join(lines) + "\n"


def smallest(machine, gpus, way, wanted=0.9):
    """The smallest multiple of 1024 with that efficiency."""
    n = 1024
    while efficiency(machine, n, gpus, way(machine, n, gpus)[0]) < wanted:
        n += 1024
    return n


def sizes_table():
    lines = []
    for gpus, name, way in ((2, "ring", ring), (8, "ring", ring), (64, "SUMMA", summa), (1024, "SUMMA", summa)):
        cells = []
        for machine in (FP32, F16X3):
            n = smallest(machine, gpus, way)
            cells.append(f"{n} ({3 * FLOAT * n * n / gpus * 1e-9:.1f})")
        lines.append(f"- {gpus} GPUs, {name}: {', '.join(cells)}")
    return "\n".join(lines) + "\n"


def measured(size, one, two):
    for name, machine in (("FP32", FP32), ("f16x3", F16X3)):
        seconds, _ = ring(machine, size, 2)
        print(f"{name}: simulated {efficiency(machine, size, 2, seconds):.3f} of two GPUs")
    print(f"measured {one / (2 * two):.3f} of two GPUs; one has {2e-12 * size ** 3 / one:.1f} TFLOP/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measured", nargs=3, type=float, metavar=("SIZE", "ONE", "TWO"))
    given = parser.parse_args()
    if not given.measured:
        print(f"{table()}\n{sizes_table()}", end="")
    elif min(given.measured) <= 0:
        parser.error("--measured: a size and two times, all above 0")
    else:
        measured(*given.measured)


if __name__ == "__main__":
    main()
