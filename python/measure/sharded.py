#!/usr/bin/env python3
"""Matrices in pieces on all GPUs: duogemm.jax.sharded_matmul beside JAX's own a @ b: python/measure/sharded.py FILE [N].

The operands are made on the devices. One device's time for the same product stands beside. XLA would try many kernels for its own
product, which takes minutes at this size: it takes cuBLAS's choice here, unless XLA_FLAGS is set. sharded_peers.py measures others.
"""

import functools
import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false")

import jax
import jax.numpy as jnp
import jaxlib
from jax.sharding import NamedSharding, PartitionSpec
from record import Record, in_turns

import duogemm.jax

ROUNDS = 3
LAYOUTS = {
    "rows by rows": (PartitionSpec("x", None), PartitionSpec("x", None)),
    "rows by columns": (PartitionSpec("x", None), PartitionSpec(None, "x")),
    "columns by rows": (PartitionSpec(None, "x"), PartitionSpec("x", None)),
}


def made(size, sharding, seed):
    make = jax.jit(lambda: jax.random.uniform(jax.random.key(seed), (size, size), jnp.float32, -1, 1), out_shardings=sharding)
    return jax.block_until_ready(make())


def beside(record, case, size, contenders, a, b):
    """Checks and times each contender. The answer is each one's median in seconds."""
    compiled = {name: jax.jit(call).lower(a, b).compile() for name, call in contenders.items()}
    for call in compiled.values():
        check(a, b, call(a, b))
    samples = in_turns({name: lambda call=call: jax.block_until_ready(call(a, b)) for name, call in compiled.items()}, ROUNDS)
    return {name: record.add(case, name, values, 2 * size**3) for name, values in samples.items()}


def check(a, b, product):
    """A few elements, which are computed anew: their largest error over the bound."""
    rows, columns = jnp.array([0, 1, a.shape[0] - 1]), jnp.array([0, 2, b.shape[1] - 1])
    x, y = jax.device_get(a[rows, :]).astype("float64"), jax.device_get(b[:, columns]).astype("float64")
    found = jax.device_get(product[rows][:, columns])
    bound = (2 * a.shape[1] ** 0.5 + 4) * 2.0**-24 * (abs(x) @ abs(y))
    error = float((abs(found - x @ y) / bound).max())
    if not error <= 1:
        sys.exit(f"WRONG: {error:.3f} of the largest error that is allowed")


def contenders(ours, **where):
    """Our product by precisions, and JAX's own."""
    return {**{f"duogemm {name}": functools.partial(ours, precision=name, **where) for name in ("fp32", "f16x3")},
            "JAX": functools.partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)}


def main():
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 32768
    devices = jax.devices()
    record = Record(f"sharded products, n = {size}, {len(devices)} devices", devices[0].device_kind, [jax, jaxlib])
    mesh = jax.make_mesh((len(devices),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    one = jax.sharding.SingleDeviceSharding(devices[0])
    alone = beside(record, "one device", size, contenders(duogemm.jax.matmul), made(size, one, 1), made(size, one, 2))
    for layout, specs in LAYOUTS.items():
        a, b = (made(size, NamedSharding(mesh, spec), seed) for seed, spec in enumerate(specs))
        calls = contenders(duogemm.jax.sharded_matmul, mesh=mesh, a_spec=specs[0], b_spec=specs[1])
        together = beside(record, layout, size, calls, a, b)
        for name, median in together.items():
            print(f"{layout}, {name}: {alone[name] / median / len(devices):.3f} of {len(devices)} times one device")
        record.write()


if __name__ == "__main__":
    main()
