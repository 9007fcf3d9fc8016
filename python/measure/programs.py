#!/usr/bin/env python3
"""The programs of program_list.py as they are and under `duogemm run`, in FP32 and by f16x3.

  programs.py compare DUOGEMM FILE [NAME ...] [--rounds 3] [--seconds 0.3] [--small]
  programs.py run NAME [--small]
  programs.py list

`compare` starts three processes for each program, which build it one after the other and then take turns: while one runs its steps, the
others wait. It prints a row for each program, writes FILE anew after each (bench/schema/README.md), and ends with 1 where a program
failed or its results differ by more than rounding. `run` is such a process alone. TF32 is off. --small is for a machine without a GPU:
toy sizes, on the CPU.
"""

import argparse
import datetime
import importlib
import json
import math
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "plots"))  # files are written as the report writes them
import results  # noqa: E402
from contenders import CONTENDERS, PLAIN, Lazy, Process, last_line, program_named, summed_up
from program_list import PROGRAMS, Machine

torch, jax, cupy = map(Lazy, ("torch", "jax", "cupy"))
CHECKED = 3  # steps at first, whose results are compared
UNTIMED = 2  # steps before those that are timed, each time
DIFFERENCE = 1e-3  # of results, relative to the largest: a step starts where the last one ended, and training amplifies rounding
PATIENCE = 240  # seconds for a process to answer


# A process that runs one program


def without_tf32(modules):
    if "torch" in modules:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.manual_seed(0)
    if "jax" in modules:
        jax.config.update("jax_default_matmul_precision", "highest")


def waiting(library, machine):
    """A function that waits for the result of a step, and the device's name."""
    if library == "jax":
        return jax.block_until_ready, jax.devices()[0].device_kind
    if machine.small:
        return lambda result: result, "CPU"
    if library == "cupy":
        device = cupy.cuda.Device()
        return lambda result: device.synchronize(), cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
    return lambda result: torch.cuda.synchronize(), torch.cuda.get_device_name()


def samples(result):
    """At most some 64 elements, evenly from the whole of an array of any library."""
    elements = result.reshape(-1)
    return elements[:: max(1, elements.shape[0] // 64)].tolist()


def timed(step, wait, count):
    """Milliseconds of each of as many steps."""
    times = []
    for number in range(UNTIMED + count):
        wait(None)
        start = time.perf_counter()
        wait(step())
        times.append(1e3 * (time.perf_counter() - start))
    return times[UNTIMED:]


def run(options):
    """Answers what was imported, what the first steps computed, and then the times of some steps, each at its turn: a line on the standard
    input. Alone, it does everything once."""
    if options.command == "run":
        answers, turns = sys.stdout, iter([True, True, False])
    else:  # Libraries print: only the answers go to the standard output.
        answers, turns = os.fdopen(os.dup(1), "w"), iter(sys.stdin.readline, None)
        os.dup2(2, 1)

    def answer(line):
        print(json.dumps(line), file=answers, flush=True)

    _, modules, build = PROGRAMS[options.name]
    if options.small:
        modules = [module.replace("cupy", "numpy") for module in modules]
    for module in modules:
        importlib.import_module(module)
    answer({"libraries": ", ".join(f"{module} {sys.modules[module].__version__}" for module in modules)})
    next(turns)
    machine = Machine(options.small)
    without_tf32(modules)
    wait, device = waiting(modules[0], machine)
    step = build(machine)
    results = [samples(step()) for _ in range(CHECKED)]
    answer({"device": device, "results": results})
    count = None
    while next(turns):
        count = count or min(100, max(3, round(1e3 * options.seconds / statistics.median(timed(step, wait, 3)))))
        answer({"ms": [round(ms, 4) for ms in timed(step, wait, count)]})


# The comparison


class Failed(Exception):
    """A program that cannot be run: its name, and the last line that it said."""


class Comparison:
    """The processes of one program, which import what it needs at once."""

    def __init__(self, name, options):
        self.name, self.rounds = name, options.rounds
        words = [__file__, "turns", name, "--seconds", options.seconds, *(["--small"] if options.small else [])]
        self.processes = {contender: Process(options.duogemm, contender, *words) for contender in CONTENDERS}
        self.imported = {}

    def hear(self, contender):
        answer = self.processes[contender].hear(PATIENCE)
        if answer is None:
            self.processes[contender].end(10)
            raise Failed(f"{contender}: {last_line(self.processes[contender].error_output())}")
        return answer

    def hear_imported(self):
        self.imported = self.imported or {contender: process.hear(PATIENCE) for contender, process in self.processes.items()}

    def row(self, upcoming):
        """What the file says of the program. What comes next is imported while this one is built, and not while it is timed."""
        row = {"name": self.name, "about": PROGRAMS[self.name][0]}
        self.hear_imported()
        try:
            row |= self.measured(upcoming)
        except Failed as failure:
            row["failed"] = str(failure)
        for process in self.processes.values():
            process.end(0)
        return row

    def measured(self, upcoming):
        first, calls = {}, {}
        for contender, process in self.processes.items():
            if self.imported[contender]:
                process.tell("build")
            first[contender] = self.hear(contender)
        if upcoming:
            upcoming.hear_imported()
        times = {contender: [] for contender in CONTENDERS}
        for number in range(self.rounds):
            shift = number % len(CONTENDERS)  # each goes first at times
            for contender in (*CONTENDERS[shift:], *CONTENDERS[:shift]):
                self.processes[contender].tell("go")
                times[contender].append(self.hear(contender)["ms"])
        for process in self.processes.values():
            process.close()
        for contender, process in self.processes.items():  # which says at its end what was served and passed on
            status = process.end(60)
            if status != 0:
                raise Failed(f"{contender}: ended with {status}: {last_line(process.error_output())}")
            calls[contender] = summed_up(process.error_output())
        return {"device": first[PLAIN]["device"], "libraries": self.imported[PLAIN]["libraries"],
                "contenders": [contender_row(contender, times, first, calls[contender]) for contender in CONTENDERS]}


def contender_row(contender, times, first, calls):
    median = statistics.median(ms for turn in times[contender] for ms in turn)
    plain = statistics.median(ms for turn in times[PLAIN] for ms in turn)
    medians = [statistics.median(turn) for turn in times[contender]]
    row = {"name": contender, "median_ms": median, "spread": (max(medians) - min(medians)) / median, "ms": times[contender]}
    if contender != PLAIN:
        row |= {"ratio": plain / median, "difference": difference(first[contender]["results"], first[PLAIN]["results"]), "calls": calls}
    return row


def difference(some, others):
    """The largest, relative to the largest result of its step; null where one of them is not finite."""
    worst = 0.0
    for ours, plain in zip(some, others):
        if not all(map(math.isfinite, ours + plain)):
            return None
        worst = max(worst, max(abs(x - y) for x, y in zip(ours, plain)) / (max(map(abs, plain)) or 1.0))
    return worst


def wrong(row):
    """Why the row is no success, or nothing."""
    if "failed" in row:
        return row["failed"]
    for contender in row["contenders"][1:]:
        if contender["difference"] is None or contender["difference"] > DIFFERENCE:
            return f"{contender['name']}: results differ by {contender['difference']}"
    return None


def print_row(row):
    if "failed" in row:
        print(f"{row['name']:18} FAILED: {row['failed']}", flush=True)
        return
    cells = [f"{row['name']:18} {row['contenders'][0]['median_ms']:8.2f} {row['contenders'][0]['spread']:6.1%}"]
    for contender in row["contenders"][1:]:
        calls, differs = contender["calls"], contender["difference"]
        counts = "{served}+{captured_served}/{passed_on}+{captured_passed_on}".format(**calls)
        told = "not finite" if differs is None else f"{differs:.0e}"
        cells.append(f"{contender['median_ms']:8.2f} {contender['spread']:6.1%} {contender['ratio']:6.3f} {counts:>14} {told:>6}")
    print(" |".join(cells), wrong(row) or "", flush=True)
    for why in dict.fromkeys(why for contender in row["contenders"][1:] for why in contender["calls"]["why"]):
        print(f"{'':18} passed on: {why}", flush=True)


def summary(rows):
    """Of each precision over all programs that ran: the worst ratio, of which program, and the geometric mean."""
    found = []
    for position, contender in enumerate(CONTENDERS[1:], 1):
        ratios = {row["name"]: row["contenders"][position]["ratio"] for row in rows if "contenders" in row}
        if ratios:
            worst = min(ratios, key=ratios.get)
            found.append({"name": contender, "programs": len(ratios), "worst": ratios[worst], "worst_program": worst,
                          "geometric_mean": statistics.geometric_mean(ratios.values())})
    return found


def write(path, rows):
    """A line for each program."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    head = json.dumps({"schema": "duogemm.programs/1", "date": date, "summary": summary(rows)})
    results.write(path, (head[:-1] + ', "programs": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n").encode())


def compare(options):
    header = " |".join([f"{'program':18} {PLAIN + ' ms':>8} {'spread':>6}"] +
                       [f"{name + ' ms':>8} {'spread':>6} {'ratio':>6} {'served/passed':>14} {'differ':>6}" for name in CONTENDERS[1:]])
    print(header + "\n(calls served and passed on: outside captures + in captures)", flush=True)
    rows = []
    names = options.names or list(PROGRAMS)
    comparison = Comparison(names[0], options)
    for name in [*names[1:], None]:
        upcoming = Comparison(name, options) if name else None
        rows.append(comparison.row(upcoming))
        comparison = upcoming
        print_row(rows[-1])
        write(options.file, rows)
    for found in summary(rows):
        print("{name}: {programs} programs, worst {worst:.3f} ({worst_program}), geometric mean {geometric_mean:.3f}".format(**found))
    return 1 if any(map(wrong, rows)) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("compare", "run", "turns"):
        sub = commands.add_parser(command)
        sub.add_argument("--small", action="store_true")
        sub.add_argument("--seconds", type=float, default=0.3, help="of steps that are timed, each time")
        if command == "compare":
            sub.add_argument("duogemm", type=program_named)
            sub.add_argument("file", type=pathlib.Path)
            sub.add_argument("names", nargs="*", metavar="name", help="all of `list` where none is given")
            sub.add_argument("--rounds", type=int, default=3)
        else:
            sub.add_argument("name", choices=PROGRAMS)
    commands.add_parser("list")
    options = parser.parse_args()
    unknown = set(getattr(options, "names", ())) - set(PROGRAMS)
    if unknown:
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    if options.command == "list":
        print("\n".join(f"{name:18} {about}" for name, (about, _, _) in PROGRAMS.items()))
        return 0
    return compare(options) if options.command == "compare" else run(options)


if __name__ == "__main__":
    sys.exit(main())
