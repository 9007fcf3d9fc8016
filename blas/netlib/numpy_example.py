#!/usr/bin/env python3
"""Runs NumPy's float32 matrix product through duogemm, without a change to NumPy:

    <build>/duogemm run -- /usr/bin/python3 blas/netlib/numpy_example.py

This needs a NumPy that takes BLAS from a shared library under BLAS's own names, as that of Debian and Ubuntu does
(python3-numpy). The one from PyPI brings its own OpenBLAS under other names. NumPy takes ssyrk for a @ a.T and sgemv
for a @ v, which duogemm leaves to the BLAS behind it. Shows which library answers and checks the
results; ends with 0 if the library is duogemm and all are right.
"""

import ctypes
import math
import sys

import numpy

# The part of NumPy that calls BLAS; its place has changed with NumPy 2.
CALLER = next(sys.modules[name] for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
              if name in sys.modules)
UNIT_ROUNDOFF = 2.0**-24


class Place(ctypes.Structure):
    """Dl_info of dladdr(3)."""

    _fields_ = [(name, ctypes.c_void_p if name in ("base", "address") else ctypes.c_char_p)
                for name in ("file", "base", "symbol", "address")]


def library_of(function):
    """The file that a function of C was loaded from."""
    place = Place()
    ctypes.CDLL(None).dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(place))
    return place.file.decode()


def sgemm_library():
    """The file whose cblas_sgemm NumPy calls, or None where NumPy calls it by another name."""
    numpy_and_what_it_needs = ctypes.CDLL(CALLER.__file__)
    if not hasattr(numpy_and_what_it_needs, "cblas_sgemm"):
        return None
    # The dynamic linker looks at the program and what is preloaded first.
    process = ctypes.CDLL(None)
    return library_of((process if hasattr(process, "cblas_sgemm") else numpy_and_what_it_needs).cblas_sgemm)


def error_ratio(a, b):
    """The largest error of a @ b, over what FP32 arithmetic allows: above 1 is wrong."""
    wide_a, wide_b = a.astype(numpy.float64), b.astype(numpy.float64)
    bound = (2 * math.sqrt(a.shape[1]) + 4) * UNIT_ROUNDOFF * (abs(wide_a) @ abs(wide_b))
    return float((abs(a @ b - wide_a @ wide_b) / bound).max())


def main():
    library = sgemm_library()
    print(f"NumPy {numpy.__version__} has its cblas_sgemm from {library}")
    generator = numpy.random.default_rng(1)
    a = generator.uniform(-1, 1, (300, 200)).astype(numpy.float32)
    b = generator.uniform(-1, 1, (200, 250)).astype(numpy.float32)
    products = {
        "a @ b": (a, b),
        "a of transposed storage": (numpy.asfortranarray(a), b),
        "b of transposed storage": (a, numpy.asfortranarray(b)),
        "a @ a.T (ssyrk, of the BLAS behind duogemm)": (a, a.T),
        "a @ v (sgemv, of the BLAS behind duogemm)": (a, b[:, 0]),
        "windows of larger matrices": (a[7:90, 5:60], b[3:58, 11:200]),
    }
    ratios = {name: error_ratio(*operands) for name, operands in products.items()}
    for name, ratio in ratios.items():
        print(f"{name}: {'right' if ratio <= 1 else 'WRONG'}, the error is {ratio:.2f} of the bound")
    through_duogemm = library is not None and "duogemm" in library
    if not through_duogemm:
        print("This is not duogemm: start it with duogemm run, and with a NumPy that it can reach", file=sys.stderr)
    return 0 if through_duogemm and all(ratio <= 1 for ratio in ratios.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
