"""JAX's arrays, which XLA multiplies by duogemm.jax."""

from ._errors import ArgumentError
from ._layout import number


def multiply(a, b, out, alpha, beta, precision, level):
    from . import jax as own

    if out is not None:
        raise ArgumentError("out cannot be given: JAX's arrays do not change")
    if beta != 0:
        raise ArgumentError(f"beta is {beta} and there is no out to multiply by it")
    alpha = number("alpha", alpha)
    product = own.matmul(a, b, precision=precision, level=level)
    return product if alpha == 1 else alpha * product
