"""duogemm in JAX: matmul under jit, grad, vmap and shard_map, and sharded_matmul for arrays on several devices."""

from ._product import matmul
from ._sharded import sharded_matmul

__all__ = ["matmul", "sharded_matmul"]
