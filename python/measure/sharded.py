#!/usr/bin/env python3
"""Matrices in pieces on all GPUs: duogemm.jax.sharded_matmul beside JAX's own a @ b: python/measure/sharded.py FILE [N].

The operands are made on the devices. One device's time for the same product stands beside, as far as its memory holds it.
"""

import functools
import sys

import jax
import jax.numpy as jnp
import jaxlib
from jax.sharding import NamedSharding, PartitionSpec
from record import Record, in_turns

import duogemm.jax

ROUNDS = 4
LAYOUTS = {
    "rows by rows": (PartitionSpec("x", None), PartitionSpec("x", None)),
    "rows by columns": (PartitionSpec("x", None), PartitionSpec(None, "x")),
    "columns by rows": (PartitionSpec(None, "x"), PartitionSpec("x", None)),
}


def made(size, sharding, seed):
    make = jax.jit(lambda: jax.random.uniform(jax.random.key(seed), (size, size), jnp.float32, -1, 1), out_shardings=sharding)
    return jax.block_until_ready(make())


def beside(record, case, size, contenders, a, b):
    compiled = {}
    for name, call in contenders.items():
        compiled[name] = jax.jit(call).lower(a, b).compile()
        jax.block_until_ready(compiled[name](a, b))
    samples = in_turns({name: functools.partial(wait, call, a, b) for name, call in compiled.items()}, ROUNDS)
    for name, values in samples.items():
        record.add(case, name, values[1:], 2 * size**3)


def wait(call, a, b):
    jax.block_until_ready(call(a, b))


def check(a, b, product):
    """A few elements, which are computed anew: their largest error over the bound."""
    rows, columns = jnp.array([0, 1, a.shape[0] - 1]), jnp.array([0, 2, b.shape[1] - 1])
    x, y = jax.device_get(a[rows, :]).astype("float64"), jax.device_get(b[:, columns]).astype("float64")
    found = jax.device_get(product[rows][:, columns])
    bound = (2 * a.shape[1] ** 0.5 + 4) * 2.0**-24 * (abs(x) @ abs(y))
    error = float((abs(found - x @ y) / bound).max())
    print(f"largest error over the bound: {error:.3f}")
    if not error <= 1:
        sys.exit("WRONG")


def ours(mesh, specs, precision):
    return lambda a, b: duogemm.jax.sharded_matmul(a, b, mesh=mesh, a_spec=specs[0], b_spec=specs[1], precision=precision)


def single(record, size, precisions):
    """On one device alone."""
    device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    a, b = made(size, device, 1), made(size, device, 2)
    contenders = {f"duogemm {name}": functools.partial(duogemm.jax.matmul, precision=name) for name in precisions}
    beside(record, "one device", size, {**contenders, "JAX": own_product}, a, b)


def own_product(a, b):
    return jnp.matmul(a, b, precision=jax.lax.Precision.HIGHEST)


def main():
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 32768
    devices = jax.devices()
    record = Record(f"sharded products, n = {size}, {len(devices)} devices", devices[0].device_kind, [jax, jaxlib])
    mesh = jax.make_mesh((len(devices),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    precisions = ("fp32", "f16x3")
    single(record, size, precisions)
    for layout, specs in LAYOUTS.items():
        a, b = (made(size, NamedSharding(mesh, spec), seed) for seed, spec in enumerate(specs))
        for precision in precisions:
            check(a, b, jax.jit(ours(mesh, specs, precision))(a, b))
        contenders = {f"duogemm {name}": ours(mesh, specs, name) for name in precisions}
        beside(record, layout, size, {**contenders, "JAX": own_product}, a, b)
    record.write()


if __name__ == "__main__":
    main()
