#!/usr/bin/env python3
"""A small NumPy program whose products make the trace numpy.jsonl:

    DUOGEMM_RECORD=bench/traces/numpy.jsonl LD_PRELOAD=<build>/blas/libduogemm_blas.so /usr/bin/python3 bench/traces/numpy_program.py

It trains a classifier on data that subspace iteration has reduced, all in float32: layers forwards and backwards on mini-batches, the last of
which is smaller, and an evaluation after each epoch. NumPy must take BLAS from a shared library, as Debian's does.
"""

import numpy

EXAMPLES, INPUTS, REDUCED, HIDDEN, CLASSES = 6000, 784, 64, 256, 10
MINI_BATCH, EPOCHS, STEP = 256, 3, numpy.float32(0.05)


def leading_directions(data, count, rounds=8):
    """Of the columns of `data`, by subspace iteration."""
    generator = numpy.random.default_rng(2)
    basis = generator.standard_normal((data.shape[1], count), dtype=numpy.float32)
    for _ in range(rounds):
        basis = data.T @ (data @ basis)
        basis, _ = numpy.linalg.qr(basis)
        basis = basis.astype(numpy.float32)
    return basis


def forwards(inputs, layers):
    values = [inputs]
    for weights, bias in layers:
        linear = values[-1] @ weights + bias
        values.append(numpy.maximum(linear, 0) if weights.shape[1] != CLASSES else linear)
    return values


def train(inputs, labels, layers):
    values = forwards(inputs, layers)
    shifted = numpy.exp(values[-1] - values[-1].max(axis=1, keepdims=True))
    error = shifted / shifted.sum(axis=1, keepdims=True)
    error[numpy.arange(len(labels)), labels] -= 1
    error /= len(labels)
    for index in range(len(layers) - 1, -1, -1):
        weights, bias = layers[index]
        slope = values[index].T @ error
        if index > 0:
            before = (error @ weights.T) * (values[index] > 0)
        layers[index] = (weights - STEP * slope, bias - STEP * error.sum(axis=0))
        error = before if index > 0 else error


def main():
    generator = numpy.random.default_rng(1)
    centres = generator.standard_normal((CLASSES, INPUTS), dtype=numpy.float32)
    labels = generator.integers(0, CLASSES, EXAMPLES)
    data = centres[labels] + 3 * generator.standard_normal((EXAMPLES, INPUTS), dtype=numpy.float32)
    reduced = data @ leading_directions(data, REDUCED)
    reduced /= reduced.std()
    sizes = [REDUCED, HIDDEN, HIDDEN, CLASSES]
    layers = [(generator.standard_normal((a, b), dtype=numpy.float32) * numpy.float32((2 / a) ** 0.5), numpy.zeros(b, numpy.float32))
              for a, b in zip(sizes, sizes[1:])]
    for epoch in range(EPOCHS):
        order = generator.permutation(EXAMPLES)
        for first in range(0, EXAMPLES, MINI_BATCH):
            chosen = order[first:first + MINI_BATCH]
            train(reduced[chosen], labels[chosen], layers)
        right = (forwards(reduced, layers)[-1].argmax(axis=1) == labels).mean()
        print(f"epoch {epoch + 1}: {100 * right:.1f} percent right")


if __name__ == "__main__":
    main()
