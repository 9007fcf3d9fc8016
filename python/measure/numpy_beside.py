#!/usr/bin/env python3
"""duogemm.matmul on NumPy's arrays beside NumPy's own product: python/measure/numpy_beside.py FILE."""

import numpy
from record import Record, in_turns

import duogemm

SIZES = (512, 768, 1024, 1536, 2048, 3072, 4096)


def main():
    device = duogemm.devices()[0]
    record = Record("products of NumPy's arrays", f"{device['name']}, {device['runtime']}", [numpy])
    generator = numpy.random.default_rng(26)
    for size in SIZES:
        a, b, out = (generator.uniform(-1, 1, (size, size)).astype("float32") for _ in range(3))
        contenders = {"duogemm": lambda: duogemm.matmul(a, b, out=out), "NumPy": lambda: numpy.matmul(a, b, out=out)}
        samples = in_turns(contenders, max(7, 4096**2 // size**2))
        medians = [record.add(f"{size}", name, values[2:], 2 * size**3) for name, values in samples.items()]
        print(f"{size}: NumPy's time over ours {medians[1] / medians[0]:.2f}")
    record.write()


if __name__ == "__main__":
    main()
