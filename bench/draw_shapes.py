#!/usr/bin/env python3
"""Draws shapes at random, as `duogemm compare --shapes FILE` takes them: bench/draw_shapes.py SEED [COUNT [LEAST MOST]] >FILE.

The same for a seed every time, by Python's Mersenne Twister. Half of the shapes have sizes that are multiples of eight. With
LEAST and MOST there is one kind only, whose sizes lie between these.
"""

import math
import random
import sys

# How often each kind is drawn, of 100.
KINDS = {"mid": 22, "any": 20, "square": 7, "large": 8, "skinny": 16, "longk": 8, "outer": 4, "batch": 9, "tiny": 6}
# Operands and result together take no more bytes than this.
MOST_BYTES = 2**31
# A forward pass has NN or NT, and its gradients TN and NT.
OPS = ["NN", "NN", "NT", "TN", "TN", "TT"]


def sizes(generator, kind, limits):
    """M, N, K and the batch of one shape."""
    def spread(low, high):
        """Uniform in its logarithm."""
        return round(math.exp(generator.uniform(math.log(low), math.log(high))))

    if kind == "between":
        return [spread(*limits) for _ in range(3)], 1
    if kind == "mid":
        return [generator.randint(32, 511) for _ in range(3)], 1
    if kind == "any":
        return [spread(16, 4096) for _ in range(3)], 1
    if kind == "square":
        return [spread(64, 4096)] * 3, 1
    if kind == "large":
        return [spread(512, 8192) for _ in range(3)], 1
    if kind == "skinny":
        result = [spread(1, 64), spread(256, 2**20)]
        generator.shuffle(result)
        return [*result, spread(16, 2**16)], 1
    if kind == "longk":
        return [spread(1, 512), spread(1, 512), spread(2048, 2**24)], 1
    if kind == "outer":
        return [spread(256, 16384), spread(256, 16384), spread(1, 32)], 1
    if kind == "batch":
        return [spread(16, 512) for _ in range(3)], spread(8, 1024)
    return [spread(2, 64) for _ in range(3)], spread(1024, 65536)


def draw(seed, count, limits):
    generator = random.Random(seed)
    i = 0
    while i < count:
        kind = "between" if limits else generator.choices(list(KINDS), list(KINDS.values()))[0]
        (m, n, k), batch = sizes(generator, kind, limits)
        if generator.random() < 0.5:
            m, n, k = (size if size < 8 else (size + 4) // 8 * 8 for size in (m, n, k))
        ops = generator.choice(OPS)
        if 4 * batch * (m * k + k * n + m * n) <= MOST_BYTES:
            yield f"{kind}{i}", m, n, k, ops, batch
            i += 1


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    limits = [int(limit) for limit in sys.argv[3:5]]
    print("# " + " ".join([f"{count} shapes drawn at random by bench/draw_shapes.py {seed} {count}", *sys.argv[3:5]]))
    for name, m, n, k, ops, batch in draw(seed, count, limits):
        print(f"{name:<10} {m:>6} {n:>6} {k:>6}  {ops}" + (f"  batch={batch}" if batch > 1 else ""))


if __name__ == "__main__":
    main()
