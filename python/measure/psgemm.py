#!/usr/bin/env python3
"""ScaLAPACK's psgemm on four ranks of this machine, over the drop-in BLAS beside the system's: tests/mpi/run, with its times recorded.

    python/measure/psgemm.py FILE tests/mpi/psgemm LIBRARY [SIZE [ROUNDS]]
"""

import pathlib
import re
import statistics
import subprocess
import sys

from record import Record

import duogemm

RUN = pathlib.Path(__file__).parents[2] / "tests/mpi/run"
LINE = re.compile(r"size (\d+), round \d+: (\S+) s over the system's BLAS, (\S+) s over the drop-in library")


def main():
    done = subprocess.run([RUN, *sys.argv[2:]], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    rounds = LINE.findall(done.stdout)
    if done.returncode or not rounds:
        sys.exit(f"psgemm.py: {RUN} ended with {done.returncode}, and measured {len(rounds)} rounds")
    device = duogemm.devices()[0]
    record = Record("psgemm on four MPI ranks with a thread each", f"{device['name']}, {device['runtime']}", [])
    case = f"size {rounds[0][0]}"
    system, drop_in = ([float(found[i]) for found in rounds] for i in (1, 2))
    record.add(case, "the system's BLAS", system)
    record.add(case, "duogemm's drop-in BLAS", drop_in)
    print(f"the system's time over ours: {statistics.median(x / y for x, y in zip(system, drop_in)):.2f}")
    record.write()


if __name__ == "__main__":
    main()
