#!/usr/bin/env python3
"""How well the library chooses between its two kernels for large products on a CPU, `cpu_direct` and `cpu_panels`.

  python/measure/cpu_kernels.py SEED COUNT DUOGEMM FILE

Problems are drawn whose A is stored as it is read, as `reads_in_place` in common/families/cpu.cpp judges them. FILE gets a line for each:
m, n, k, operations, microseconds by `cpu_direct` and by `cpu_panels`, and which the library chooses where it keeps a chain. What is printed
is the mean of the chosen kernel's time over the faster one's."""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile


def draw(seed, count):
    generator = random.Random(seed)
    shapes = []
    while len(shapes) < count:
        m, n = (round(math.exp(generator.uniform(math.log(8), math.log(20000)))) for _ in range(2))
        k = round(math.exp(generator.uniform(0, math.log(20000))))
        if 1e6 <= m * n * k <= 5e8:
            shapes.append((m, n, k, generator.choice(("NN", "NT"))))
    return shapes


def asked(program, *options, force=None):
    environment = dict(os.environ, DUOGEMM_FORCE=force) if force else os.environ
    command = [program, *options, "--backend", "cpu", "--level", "everywhere", "--json", "-"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True)
    if told.returncode != 0:
        sys.exit(told.stderr)  # which has the tables otherwise
    return json.loads(told.stdout)


def setting(program, size):
    """The tunables that do not follow from the problem, of the kernel that a square of that size gets."""
    kernel, *tunables = asked(program, "plan", "--size", f"{size}")["schedule"].split()
    decided = ("COPY_A", "ROWS_C", "TRANS_A", "TRANS_B")
    return f"{kernel}:{','.join(one for one in tunables if not one.startswith(decided))}"


def main(given):
    shapes = draw(given.seed, given.count)
    with tempfile.TemporaryDirectory() as folder:
        shape_list = pathlib.Path(folder) / "drawn.txt"
        shape_list.write_text("".join(f"shape{i} {m} {n} {k} {ops}\n" for i, (m, n, k, ops) in enumerate(shapes)))
        times = []
        for force in (setting(given.program, 100), setting(given.program, 2000)):
            told = asked(given.program, "compare", "--shapes", str(shape_list), "--against", "none", "--seconds", "0.05", force=force)
            times.append([row["time"]["median_s"] * 1e6 for row in told["runs"][0]["rows"]])
    lines = []
    losses = []
    for (m, n, k, ops), direct, panels in zip(shapes, *times, strict=True):
        chosen = asked(given.program, "plan", "-m", f"{m}", "-n", f"{n}", "-k", f"{k}", "--ops", ops)["schedule"].split()[0]
        lines.append("\t".join(map(str, (m, n, k, ops, f"{direct:.4g}", f"{panels:.4g}", chosen))))
        losses.append((direct if chosen == "cpu_direct" else panels) / min(direct, panels))
    given.file.write_text("\n".join(lines) + "\n")
    mean = math.exp(sum(map(math.log, losses)) / len(losses))
    print(f"{len(losses)} problems: {mean:.3f} times the faster kernel's time, worst {max(losses):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("program", metavar="duogemm")
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.count < 1:
        parser.error("count must be 1 or more")
    try:
        main(arguments)
    except OSError as error:
        sys.exit(f"cpu_kernels: {error}")
