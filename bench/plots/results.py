"""Result files of the program, as bench/schema/README.md describes them."""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics

SWITCHES = ("USE_LDG", "USE_SHUFFLE")
KINDS = ("ladder", "compare", "explain", "replay", "sweep", "accuracy")
RUNTIMES = {"cuda": "CUDA", "opencl": "OpenCL", "cpu": "C++", "webgpu": "WebGPU"}


class BadFile(Exception):
    """What is wrong with a file, in one line."""


@dataclasses.dataclass
class Section:
    """A heading with what stands below it. about: of what it is. pictures: figures with what they show in words. tables: rows of cells with
    a caption. climbs: ladders as rows of bars."""
    name: str
    title: str
    about: str
    text: str
    pictures: list
    tables: list = ()
    climbs: list = ()


def parse(path):
    """What a file of JSON says."""
    try:
        return json.loads(pathlib.Path(path).read_text())
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise BadFile(f"{path}: this JSON is nested too deep") from None
    except ValueError:  # UnicodeDecodeError, JSONDecodeError, and what an integer of thousands of digits raises
        raise BadFile(f"{path}: this is no JSON") from None


def load(path):
    """The document, and which of KINDS it is."""
    document = parse(path)
    schema = document.get("schema") if isinstance(document, dict) else None
    for kind in KINDS:
        if schema == f"duogemm.{kind}/1":
            return document, kind
    raise BadFile(f"{path}: its schema is {schema!r}; known are " + ", ".join(f"duogemm.{kind}/1" for kind in KINDS))


def write(path, content):
    """Gives a file these bytes, as the program writes its own: a regular one is replaced whole, through links, and keeps its mode."""
    file = pathlib.Path(os.path.realpath(path))
    unfinished = file if file.exists() and not file.is_file() else file.with_name(f"{file.name}.unfinished-{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        if unfinished != file:
            if file.exists():
                shutil.copymode(file, unfinished)
            os.replace(unfinished, file)
    except OSError as error:
        if unfinished != file:
            unfinished.unlink(missing_ok=True)
        raise BadFile(f"{path} could not be written: {error.strerror}") from None


def quartiles(values):
    return statistics.quantiles(values if len(values) > 1 else 2 * values, n=4, method="inclusive")


def quartiles_of_ratio(numerator, denominator):
    """Of the ratio of paired samples: those of the same turn."""
    return quartiles([a / b for a, b in zip(numerator, denominator)])


def speed_quartiles(row):
    """How far the quartiles of the speed are below and above it."""
    at_median, (fast, _, slow) = row["gflops"] * row["time"]["median_s"], quartiles(row["time"]["seconds"])
    return row["gflops"] - at_median / slow, at_median / fast - row["gflops"]


def speed_text(gflops):
    return f"{gflops:,.0f}" if gflops >= 100 else f"{gflops:.1f}" if gflops >= 1 else f"{gflops:.2g}"


def name(row):
    """A rung's number and kernel, or the one that there is."""
    return " ".join(filter(None, dict.fromkeys((row["rung"], row["kernel"]))))


def names_of(rows):
    """For the bars of a figure: each with what distinguishes it from the first of its rung."""
    return [name(row) + short_setting(row, rows).replace(" ", "\n", 1) for row in rows]


def switches(rows):
    """How the switches stand in the kernels that have them: "USE_LDG=1 USE_SHUFFLE=0"."""
    found = {switch: sorted({row["tunables"][switch] for row in rows if switch in row["tunables"]}) for switch in SWITCHES}
    return " ".join(f"{switch}={' and '.join(map(str, values))}" for switch, values in found.items() if values)


def key(row):
    """Which kernel with which setting a ladder's row is about; duogemm's own choice is whatever it is on the device."""
    return (row["rung"],) if row["rung"] == "duogemm" else (row["rung"], row["kernel"], tuple(sorted(row["tunables"].items())))


def first_of_rung(row, rows):
    return next(r for r in rows if r["rung"] == row["rung"] and r["kernel"] == row["kernel"])


def short_setting(row, rows, without=()):
    """What distinguishes a row from the first of its rung: " 160 wide" for tiles of another size, else " WIDTH=8"."""
    standard = first_of_rung(row, rows)["tunables"]
    different = {name: value for name, value in row["tunables"].items() if standard.get(name) != value and name not in without}
    return f" {different['TSM']} wide" if "TSM" in different else "".join(f" {name}={value}" for name, value in different.items())


def driver(run):
    """That of the GPU where it was asked, or else the runtime's."""
    return (run.get("gpu_after") or run["device"])["driver"]


def runtime_caption(run):
    """With the clock as seen while it was measured, or else the highest that there is."""
    after, seen = run.get("gpu_after"), (run.get("gpu_during") or {}).get("sm_mhz")
    clock = after["sm_mhz"] if after else run["device"]["max_clock_mhz"]
    if seen:
        clock = f"{min(seen)} to {max(seen)}" if len(set(seen)) > 1 else seen[0]
    return ", ".join([run["device"]["runtime"], *([f"driver {driver(run)}"] if driver(run) != "none" else []), f"{clock} MHz"])


def device_caption(run):
    return f"{run['device']['name'].strip()}, {runtime_caption(run)}"


def size_caption(run):
    m, n, k = run["m"], run["n"], run["k"]
    return f"M=N=K={m}" if m == n == k else f"M={m} N={n} K={k}"


def runtime_name(device):
    return RUNTIMES[device["backend"]]


def where(device):
    return f"{device['name'].strip()}, {runtime_name(device)}"
