#!/usr/bin/env python3
"""Times transformer.py as it is and under `duogemm run`, by turns, a process each.

  beside.py DUOGEMM FILE [--precisions fp32,f16x3] [--rounds 3] [--steps 20]

Writes one object to FILE (bench/schema/README.md) and prints a table. The first three steps of a process are not timed.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).with_name("transformer.py")
WARM_UP = 3


def run(duogemm, precision, steps):
    """What the program prints in one process: plain where no precision is given."""
    command = [sys.executable, str(PROGRAM), str(steps)]
    environment = dict(os.environ)
    if precision:
        command = [duogemm, "run", "--", *command]
        environment["DUOGEMM_PRECISION"] = precision
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"beside.py: {' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


def contender(name, runs):
    times = [t for run in runs for t in run["ms"][WARM_UP:]]
    return {"name": name, "median_ms": statistics.median(times), "ms": [run["ms"] for run in runs],
            "losses": [run["losses"] for run in runs]}


def largest_difference(some, others):
    """Of two sets of runs, step by step, relative to the loss."""
    return max(abs(a - b) / abs(b) for one in some for other in others for a, b in zip(one, other))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("duogemm")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    if options.rounds < 1 or options.steps <= WARM_UP:
        parser.error(f"--rounds must be at least 1 and --steps more than {WARM_UP}")
    names = ["", *options.precisions.split(",")]
    runs = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            runs[name].append(run(options.duogemm, name, options.steps))
    contenders = [contender(name or "cuBLAS", runs[name]) for name in names]
    plain = contenders[0]
    document = {"schema": "duogemm.program/1",
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "program": PROGRAM.name, "device": runs[""][0]["device"], "libraries": runs[""][0]["libraries"],
                "contenders": contenders}
    unfinished = options.file.with_name(options.file.name + ".new")
    unfinished.write_text(json.dumps(document) + "\n")
    unfinished.replace(options.file)
    print(f"{'arithmetic':10} {'ms':>8} {'ratio':>6}  largest difference of losses from cuBLAS's")
    for c in contenders:
        print(f"{c['name']:10} {c['median_ms']:8.2f} {plain['median_ms'] / c['median_ms']:6.3f}  "
              f"{largest_difference(c['losses'], plain['losses']):.1e}")


if __name__ == "__main__":
    main()
