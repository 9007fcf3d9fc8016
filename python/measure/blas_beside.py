#!/usr/bin/env python3
"""The drop-in BLAS on the CPU beside other libraries, each in a process of its own, in turns.

  python/measure/blas_beside.py [--summary FILE] SEED COUNT THREADS OURS OTHER [OTHER ...]

OURS and OTHER are shared libraries, of BLAS or oneDNN; PREFIX:LIBRARY is one whose sgemm_ has a prefix, such as scipy_. Shapes are from 1
to 4096, uniform in their logarithm, a third with a side or k up to 12. A ratio is the other's time over ours. The summary is a file as
bench/results has them."""

import argparse
import datetime
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
AT_ONCE = 10


def draw(seed, count):
    """Shapes of less than 3e9 multiply-adds, as blas_times takes them."""
    generator = random.Random(seed)
    shapes = []
    while len(shapes) < count:
        sizes = [round(math.exp(generator.uniform(0, math.log(4096)))) for _ in range(3)]
        if len(shapes) % 3 == 0:
            sizes[generator.randrange(3)] = generator.randint(1, 12)
        if math.prod(sizes) <= 3e9:
            shapes.append(",".join(map(str, sizes)) + "," + generator.choice(["NN", "NN", "NT", "TN", "TT"]))
    return shapes


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as lines:
        facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    sets = [name for name in ("avx2", "avx512f", "asimd") if name in facts.get("flags", facts.get("Features", "")).split()]
    return f"{facts.get('model name', 'a processor')} ({', '.join(sets)})"


def summary(seed, count, threads, about, times, libraries):
    """The times of all shapes, as tools/summary.py reads them."""
    ours, *others = libraries
    titles = [about[other].removeprefix("BLIS ").split()[0] for other in others]
    version = (HERE.parent.parent / "common/include/duogemm/version.h").read_text().partition('DUOGEMM_VERSION "')[2].partition('"')[0]
    lines = [f"# command: python/measure/blas_beside.py {seed} {count} {threads} ...",
             f"# date: {datetime.date.today()}",
             f"# device: {processor()}, {threads} threads, each library in a process of its own, no variable that slows one",
             f"# duogemm: {version}",
             f"# others: {', '.join(about[other] for other in others)}",
             "\t".join(["list", "row", "problem", "gflops", "us", "spread", *titles])]
    for i, (shape, nanoseconds) in enumerate(times[ours].items()):
        m, n, k, ops = shape.split(",")
        speed = 2 * int(m) * int(n) * int(k) / nanoseconds
        ratios = [f"{times[other][shape] / nanoseconds:.4g}" for other in others]
        lines.append("\t".join(["drawn", f"shape{i}", f"{m} {n} {k} {ops}", f"{speed:.4g}", f"{nanoseconds / 1e3:.4g}", "", *ratios]))
    return "\n".join(lines) + "\n"


def main(given):
    libraries, threads = given.libraries, str(given.threads)
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "BLIS_ARCH_TYPE", "DUOGEMM_THREADS"):
        if name in os.environ:
            print(f"{name} is set to {os.environ.pop(name)}: it is left out, because it may slow a library")
    environment = dict(os.environ, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads, DUOGEMM_DEVICE="cpu0")
    shapes = draw(given.seed, given.count)
    times = {library: {} for library in libraries}
    about = {}
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/blas_times"
        subprocess.run(["cc", "-O2", HERE / "blas_times.c", "-o", program, "-ldl"], check=True)
        for first in range(0, len(shapes), AT_ONCE):
            for library in libraries:
                prefix, _, path = library.rpartition(":")
                command = [program, path, f"{prefix}sgemm_", *shapes[first : first + AT_ONCE]]
                said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
                about[library] = said[0]
                for line in said[1:]:
                    shape, nanoseconds = line.split()
                    times[library][shape] = float(nanoseconds)
    if given.summary:
        given.summary.write_text(summary(given.seed, given.count, threads, about, times, libraries))
    ours, *others = libraries
    for other in others:
        ratios = sorted((times[other][shape] / times[ours][shape], shape) for shape in times[ours])
        mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
        worst = ", ".join(f"{ratio:.2f} at {shape}" for ratio, shape in ratios[:5])
        print(f"{other} ({about[other]}): {threads} threads, {len(ratios)} shapes, mean {mean:.3f}, worst {worst}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--summary", type=pathlib.Path, help="write the times of all shapes to this file")
    for name in ("seed", "count", "threads"):
        parser.add_argument(name, type=int)
    parser.add_argument("libraries", nargs="+", metavar="OURS OTHER")
    given = parser.parse_args()
    if len(given.libraries) < 2:
        parser.error("OURS and at least one OTHER are needed")
    if given.summary and not given.summary.resolve().parent.is_dir():
        parser.error(f"--summary {given.summary}: there is no such folder")
    return given


if __name__ == "__main__":
    try:
        main(arguments())
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr or f"blas_beside: {error}")
