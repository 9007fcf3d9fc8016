"""What exchange_product of native/calls.cpp is given: it multiplies arrays whose library lets others look at them in C, by DLPack's
exchange functions. It answers whether the product is on its way. If not, nothing was done: the arrays are not matrices on the
current device, or something about them is wrong or out of the ordinary."""

import ctypes
import functools

from ._layout import problem_without_sizes
from ._library import exchange_product

_MAJOR = 1  # of the version of DLPack that native/calls.cpp knows


def functions_of(kind):
    """The address of the exchange functions of such arrays, or None where they have none, or the build has no CUDA."""
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if capsule is None or exchange_product is None:
        return None
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    address = pointer_of(capsule, b"dlpack_exchange_api")
    return address if ctypes.c_uint32.from_address(address).value == _MAJOR else None


@functools.lru_cache(maxsize=4096)
def request(alpha, beta, precision, level):
    """What a product is asked besides its sizes: where that is in memory, and what keeps it there."""
    problem = problem_without_sizes(alpha, beta, precision, level)
    return ctypes.addressof(problem), problem
