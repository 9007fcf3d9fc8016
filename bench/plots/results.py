"""Result files of the program, as bench/schema/README.md describes them."""

import json
import math
import os
import pathlib
import stat
import tempfile

SWITCHES = ("USE_LDG", "USE_SHUFFLE")
KINDS = ("ladder", "compare", "explain", "replay", "sweep", "accuracy")


class BadFile(Exception):
    """What is wrong with a file, in one line."""


def load(path):
    """The document, and which of KINDS it is."""
    document = parse(path)
    schema = document.get("schema") if isinstance(document, dict) else None
    for kind in KINDS:
        if schema == f"duogemm.{kind}/1":
            return document, kind
    raise BadFile(f"{path}: its schema is {schema!r}; known are " + ", ".join(f"duogemm.{kind}/1" for kind in KINDS))


def parse(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise BadFile(f"{path}: this JSON is nested too deep") from None
    except ValueError:  # UnicodeDecodeError, JSONDecodeError, and what an integer of thousands of digits raises
        raise BadFile(f"{path}: this is no JSON") from None


def write(path, content):
    """Gives a file these bytes, as the program writes its own: a regular one is replaced whole, through links, and keeps its mode."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            pathlib.Path(path).write_bytes(content)
        else:
            replace(pathlib.Path(os.path.realpath(path)), content)
    except OSError as error:
        raise BadFile(f"{path} could not be written: {error.strerror}") from None


def replace(path, content):
    mask = os.umask(0)
    os.umask(mask)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~mask
    descriptor, unfinished = tempfile.mkstemp(prefix=f"{path.name}.unfinished-", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.chmod(unfinished, mode)
        os.replace(unfinished, path)
    except OSError:
        os.unlink(unfinished)
        raise


def quantile(values, fraction=0.5):
    """Between neighbours by linear interpolation, as the program does it."""
    values = sorted(values)
    position = fraction * (len(values) - 1)
    below = math.floor(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (position - below) * (values[above] - values[below])


def quartiles_of_ratio(numerator, denominator):
    """Median and quartiles of the ratio of paired samples: those of the same turn."""
    ratios = [a / b for a, b in zip(numerator, denominator)]
    return quantile(ratios, 0.25), quantile(ratios), quantile(ratios, 0.75)


def speed_quartiles(row):
    """How far the quartiles of the speed are below and above it."""
    middle, time = row["gflops"], row["time"]
    return (middle - middle * time["median_s"] / quantile(time["seconds"], 0.75),
            middle * time["median_s"] / quantile(time["seconds"], 0.25) - middle)


def speed_text(gflops):
    return f"{gflops:,.0f}" if gflops >= 100 else f"{gflops:.1f}" if gflops >= 1 else f"{gflops:.2g}"


def name(row):
    """A rung's number and kernel, or the one that there is."""
    return " ".join(filter(None, dict.fromkeys((row["rung"], row["kernel"]))))


def switches(rows):
    """How the switches stand in the kernels that have them: "USE_LDG=1 USE_SHUFFLE=0"."""
    found = {switch: sorted({row["tunables"][switch] for row in rows if switch in row["tunables"]}) for switch in SWITCHES}
    return " ".join(f"{switch}={' and '.join(map(str, values))}" for switch, values in found.items() if values)


def key(row):
    """Which kernel with which setting a ladder's row is about; duogemm's own choice is whatever it is on the device."""
    if row["rung"] == "duogemm":
        return (row["rung"],)
    return row["rung"], row["kernel"], tuple(sorted(row["tunables"].items()))


def first_of_rung(row, rows):
    return next(r for r in rows if r["rung"] == row["rung"] and r["kernel"] == row["kernel"])


def short_setting(row, rows, without=()):
    """What distinguishes a row from the first of its rung: " 160 wide" for tiles of another size, else " WIDTH=8"."""
    standard = first_of_rung(row, rows)["tunables"]
    different = {name: value for name, value in row["tunables"].items() if standard.get(name) != value and name not in without}
    return f" {different['TSM']} wide" if "TSM" in different else "".join(f" {name}={value}" for name, value in different.items())


def driver(run):
    state = run.get("gpu_after")
    return state["driver"] if state else run["device"]["driver"]


def clock(run):
    """In words: as seen while it was measured, or the highest that there is."""
    seen = run.get("gpu_during")
    if seen:
        return f"{min(seen['sm_mhz'])} to {max(seen['sm_mhz'])} MHz" if len(set(seen["sm_mhz"])) > 1 else f"{seen['sm_mhz'][0]} MHz"
    state = run.get("gpu_after")
    return f"{state['sm_mhz']} MHz" if state else f"{run['device']['max_clock_mhz']} MHz"


def runtime_caption(run):
    return f"{run['device']['runtime']}, driver {driver(run)}, {clock(run)}"


def device_caption(run):
    return f"{run['device']['name'].strip()}, {runtime_caption(run)}"


def size_caption(run):
    m, n, k = run["m"], run["n"], run["k"]
    return f"M=N=K={m}" if m == n == k else f"M={m} N={n} K={k}"


def runtime_name(device):
    return "CUDA" if device["backend"] == "cuda" else "OpenCL"


def where(device):
    return f"{device['name'].strip()}, {runtime_name(device)}"
