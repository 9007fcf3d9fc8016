#!/usr/bin/env python3
"""duogemm.matmul on NumPy's arrays beside NumPy's own product, each in a process of its own, in turns: waiting threads of one library
take the processor from the other.

  python/measure/numpy_beside.py FILE.json"""

import json
import subprocess
import sys
import time

import numpy
from record import Record

import duogemm

SIZES = (32, 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096)
PRODUCTS = {"duogemm": duogemm.matmul, "NumPy": numpy.matmul}
TURNS = 5


def seconds_of(contender, size):
    """Seconds of each call, after some that are not counted."""
    generator = numpy.random.default_rng(26)
    a, b, out = (generator.uniform(-1, 1, (size, size)).astype("float32") for _ in range(3))
    multiply = PRODUCTS[contender]
    samples = []
    end = time.perf_counter() + 0.2
    while len(samples) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        multiply(a, b, out=out)
        samples.append(time.perf_counter() - start)
    return samples[len(samples) // 2 : len(samples) // 2 + 1000]


def main():
    device = duogemm.devices()[0]
    record = Record("products of NumPy's arrays", f"{device['name']}, {device['runtime']}", [numpy])
    for size in SIZES:
        samples = {name: [] for name in PRODUCTS}
        for _ in range(TURNS):
            for name, values in samples.items():
                alone = subprocess.run([sys.executable, __file__, name, f"{size}"], stdout=subprocess.PIPE, text=True, check=True)
                values += json.loads(alone.stdout)
        medians = [record.add(f"{size}", name, values, 2 * size**3) for name, values in samples.items()]
        print(f"{size}: NumPy's time over ours {medians[1] / medians[0]:.2f}")
    record.write()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in PRODUCTS:
        print(json.dumps(seconds_of(sys.argv[1], int(sys.argv[2]))))
    elif len(sys.argv) == 2:
        main()
    else:
        sys.exit(__doc__)
