"""The program `duogemm`, which the package holds: its commands as functions, their results as data."""

import json
import os
import pathlib
import subprocess
import sys

from ._library import ArgumentError, DeviceError
from ._paths import PROGRAM

_PATH = pathlib.Path(__file__).parent / PROGRAM


def main():
    """The command `duogemm` of a shell."""
    os.execv(_PATH, ["duogemm", *sys.argv[1:]])


def _options(options):
    """As the program has them: --some-name value. None leaves one out, True and False switch it, a list is several."""
    for name, value in options.items():
        flag = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        if value is True:
            yield flag
        elif value is False:
            yield "--no-" + flag[2:]
        elif isinstance(value, (list, tuple)):
            yield flag
            yield ",".join(map(str, value))
        elif value is not None:
            yield from (flag, str(value))


def _run(command, *positional, **options):
    """What the command writes to its standard output. What it tells people goes to the error output."""
    words = [str(_PATH), command, *map(str, positional), *_options(options)]
    # Its last words there say why it has failed.
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, told = process.communicate()
    if process.returncode not in (0, 1):
        line = told.strip().rpartition("\n")[2].removeprefix("duogemm: ")
        raise (ArgumentError if process.returncode == 2 else DeviceError)(f"duogemm {command}: {line or process.returncode}")
    return output


def _result(command, *positional, **options):
    return json.loads(_run(command, *positional, **options, json="-"))


def devices() -> list[dict]:
    """What there is to run on: a list of dictionaries, as bench/schema/README.md describes a device, with its number."""
    return [{"number": entry["number"], **entry["device"]} for entry in _result("devices")["devices"]]


def plan(
    m: int,
    n: int,
    k: int,
    *,
    ops: str = "NN",
    batch: int = 1,
    level: str = "run_to_run",
    top: int | None = None,
    backend: str | None = None,
    device: int | str | None = None,
) -> dict:
    """Which kernels the library would run for a multiplication: the result file of `duogemm plan`.

    ops: how a and b are stored, column-major: NN, NT, TN or TT. top: how many candidates to list besides.
    """
    return _result("plan", m=m, n=n, k=k, ops=ops, batch=batch, level=level, top=top, backend=backend, device=device)


def ladder(
    *, size: int | None = None, kernels: list | None = None, backend: str | None = None, device: int | str | None = None, **options
) -> dict:
    """Runs, checks and times the rungs of the ladder: the result file of `duogemm ladder`.

    kernels: rungs or names. options: the command's others, such as m, n, k, seconds, set, shuffle, ldg.
    """
    return _result("ladder", size=size, kernels=kernels, backend=backend, device=device, **options)


def tune(
    out: str | pathlib.Path, *, budget: str = "5m", backend: str | None = None, device: int | str | None = None, **options
) -> dict | None:
    """Searches for the fastest settings on a device, and writes them to the file `out` where they are faster than what there is.

    The library reads tuning files in DUOGEMM_TUNING_DIR, by default ~/.config/duogemm. options: the command's others, such as
    shapes, ops, threads, seed, resume. The answer is what the file holds; None where there is none.
    """
    _run("tune", out=out, budget=budget, backend=backend, device=device, **options)
    path = pathlib.Path(out)
    return json.loads(path.read_text()) if path.exists() else None


def replay(
    *traces: str | pathlib.Path,
    against: str | None = None,
    through: str | None = None,
    repeat: int | None = None,
    warm: bool | None = None,
    backend: str | None = None,
    device: int | str | None = None,
) -> dict:
    """Runs the calls of recorded programs (DUOGEMM_RECORD) again: the result file of `duogemm replay`."""
    return _result("replay", *traces, against=against, through=through, repeat=repeat, warm=warm or None, backend=backend, device=device)


def frame(result):
    """The rows of a result as a pandas.DataFrame: those of devices(), ladder(), plan() (its steps) or replay() (its traces)."""
    import pandas

    if isinstance(result, list):
        return pandas.DataFrame(result)
    if not isinstance(result, dict) or "schema" not in result:
        raise ArgumentError(f"{type(result).__qualname__} is no result of devices(), ladder(), plan() or replay()")
    kind = result["schema"].partition("/")[0]
    if kind == "duogemm.ladder":
        rows = [{"backend": run["device"]["backend"], "device": run["device"]["name"], "m": run["m"], "n": run["n"], "k": run["k"], **row}
                for run in result["runs"] for row in run["rows"]]
        return pandas.json_normalize(rows)
    if kind == "duogemm.plan":
        return pandas.DataFrame(result["steps"])
    if kind == "duogemm.replay":
        return pandas.json_normalize(result["traces"])
    raise ArgumentError(f"{result['schema']} has no rows that are known here")
