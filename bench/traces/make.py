#!/usr/bin/env python3
"""Writes the traces that follow from an algorithm into a folder: bench/traces/make.py FOLDER.

The same every time: what is random is drawn from SEED with Python's Mersenne Twister.
"""

import json
import math
import pathlib
import random
import sys

SEED = 20260801
# What a call is when its line does not say otherwise. Leading dimensions and strides are then as small as they can be.
USUAL = {"ops": "NN", "alpha": 1, "beta": 0}


def call(m, n, k, ops="NN", **members):
    found = {"m": m, "n": n, "k": k, "ops": ops, **members}
    return {name: value for name, value in found.items() if value != USUAL.get(name)}


def lu(size=8192, block=128):
    """The trailing updates of a right-looking LU factorisation with panels of `block` columns."""
    for done in range(block, size, block):
        yield call(size - done, size - done, block, alpha=-1, beta=1, lda=size, ldb=size, ldc=size)


def cholesky(size=4096, block=128):
    """The trailing updates of a right-looking Cholesky factorisation, block column by block column below the diagonal."""
    for done in range(block, size, block):
        for column in range(done, size, block):
            yield call(size - column, block, block, "NT", alpha=-1, beta=1, lda=size, ldb=size, ldc=size)


def attention_decode(steps=512, heads=32, width=128, capacity=1024):
    """A token at a time: scores and values of all heads over a cache that grows."""
    for length in range(1, steps + 1):
        cache = {"batch": heads, "a_stride": capacity * width}
        yield call(length, 1, width, "TN", **cache, alpha=width**-0.5, c_stride=capacity, ldc=capacity)
        yield call(width, 1, length, "NN", **cache, ldb=capacity, b_stride=capacity)


def prefill(generator, requests=24, hidden=1024, heads=16, inner=4096):
    """Sequences of mixed lengths through a layer of a transformer, each request by itself."""
    width = hidden // heads
    for _ in range(requests):
        length = round(2 ** generator.uniform(4, 11))
        yield call(3 * hidden, length, hidden, "TN")
        qkv = {"batch": heads, "lda": 3 * hidden, "a_stride": width}
        yield call(length, length, width, "TN", **qkv, ldb=3 * hidden, b_stride=width, alpha=width**-0.5)
        yield call(width, length, length, "NN", **qkv, ldc=hidden, c_stride=width)
        yield call(hidden, length, hidden, "TN", beta=1)
        yield call(inner, length, hidden, "TN")
        yield call(hidden, length, inner, "TN", beta=1)


def new_alphas(generator, count=300):
    """The same product, each time with another alpha: a step size that an optimiser chooses anew."""
    for _ in range(count):
        yield call(1024, 16, 1024, alpha=round(generator.uniform(-1, 1), 6), beta=1)


def block_cg(generator, size=2048, right_sides=8, iterations=60):
    """Conjugate gradients for several right-hand sides: matrix times block, inner products, updates by changing scalars."""
    residual = 1.0
    for _ in range(iterations):
        yield call(size, right_sides, size)
        yield call(right_sides, right_sides, size, "TN")
        step = round(residual * generator.uniform(0.1, 0.9), 8)
        yield call(size, right_sides, right_sides, alpha=step, beta=1)
        yield call(size, right_sides, right_sides, alpha=-step, beta=1)
        yield call(right_sides, right_sides, size, "TN")
        yield call(size, right_sides, right_sides, beta=round(generator.uniform(0.1, 0.9), 8))
        residual *= 0.9


def k_means(generator, points=20000, width=64, most=48, rounds=40):
    """Distances of all points to centres, some of which are given up from round to round, and the centres' sums."""
    centres = most
    for _ in range(rounds):
        yield call(centres, points, width, "TN", alpha=-2, beta=1)
        yield call(width, centres, points, "NT", alpha=round(1 / points * generator.uniform(0.5, 2), 10))
        centres -= centres > 8 and generator.random() < 0.6


def small_shapes(generator, count=500):
    for _ in range(count):
        yield call(*(generator.randint(32, 511) for _ in range(3)))


def any_shapes(generator, count=1000, largest=4096):
    """Sizes whose logarithms are uniform; one in ten is a batch."""
    def size():
        return round(math.exp(generator.uniform(0, math.log(largest))))
    while count > 0:
        members = {"batch": generator.randint(2, 16)} if generator.random() < 0.1 else {}
        beta = generator.choice([0, 0, 1, 0.5])
        found = call(size(), size(), size(), generator.choice(["NN", "NT", "TN", "TT"]), beta=beta, **members)
        m, n, k = found["m"], found["n"], found["k"]
        if (m * k + k * n + m * n) * members.get("batch", 1) < 2**27:
            yield found
            count -= 1


def runs(calls):
    """The same call in a row is one line with how often it came."""
    lines = []
    for found in calls:
        if lines and lines[-1][0] == found:
            lines[-1][1] += 1
        else:
            lines.append([found, 1])
    return [{**found, "times": times} if times > 1 else found for found, times in lines]


def write(folder, name, about, calls):
    head = {"schema": "duogemm.trace/1", "about": about}
    text = "\n".join(json.dumps(line, separators=(",", ":")) for line in [head, *runs(calls)])
    (folder / f"{name}.jsonl").write_text(text + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, "lu", "LU of 8192 in panels of 128: 63 trailing updates", lu())
    write(folder, "cholesky", "Cholesky of 4096 in blocks of 128: updates of block columns that get shorter", cholesky())
    write(folder, "attention_decode", "Attention of 32 heads of 128, a token at a time, over a cache that grows to 512", attention_decode())
    write(folder, "prefill", "24 sequences of 16 to 2048 tokens through a layer of 1024 with 16 heads", prefill(random.Random(SEED)))
    write(folder, "new_alphas", "1024 x 16 x 1024, 300 times with another alpha each", new_alphas(random.Random(SEED + 1)))
    write(folder, "block_cg", "Conjugate gradients of 2048 for 8 right-hand sides, 60 iterations", block_cg(random.Random(SEED + 2)))
    write(folder, "k_means", "k-means of 20000 points in 64 dimensions, 48 centres that get fewer, 40 rounds", k_means(random.Random(SEED + 3)))
    write(folder, "small_shapes", "500 random shapes of 32 to 511", small_shapes(random.Random(SEED + 4)))
    write(folder, "any_shapes", "1000 random shapes of 1 to 4096, all transposes, some batches", any_shapes(random.Random(SEED + 5)))


if __name__ == "__main__":
    main()
