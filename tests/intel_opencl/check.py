#!/usr/bin/env python3
"""Verifies every rung and the library's kernels through a second vendor's OpenCL: Intel's runtime for CPUs, sub-groups and all.

  tests/intel_opencl/check.py PROGRAM

The runtime comes from the Python packages intel-opencl-rt, intel-cmplr-lib-rt and tbb, in this Python's folder. Without them the
check ends with 77, which CTest takes as skipped.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

RUNTIME = pathlib.Path(sys.prefix) / "lib" / "libintelocl.so"


def verify(program, vendors, *arguments):
    environment = dict(os.environ, OCL_ICD_VENDORS=vendors, OCL_ICD_FILENAMES="", DUOGEMM_CACHE_DIR="")
    done = subprocess.run([program, "verify", "--backend", "opencl", *arguments], env=environment, capture_output=True, text=True)
    print(done.stdout, done.stderr, sep="")
    rows = [line for line in done.stdout.splitlines() if line.endswith(" ok")]
    if done.returncode != 0 or not rows:
        sys.exit(f"FAILED: duogemm verify {' '.join(arguments)} ended with {done.returncode}, {len(rows)} rows were right")


def main():
    if not RUNTIME.is_file():
        print(f"skipped: there is no {RUNTIME}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as vendors:
        (pathlib.Path(vendors) / "intel.icd").write_text(f"{RUNTIME}\n")
        # Rows of 8 work-items pass values on within a sub-group of 8, which processors without AVX-512 have.
        for arguments in ([], ["--shuffle", "--set", "TSM=64", "--kernels", "8,9,10"], ["--gemm"]):
            verify(sys.argv[1], vendors, *arguments)


if __name__ == "__main__":
    main()
