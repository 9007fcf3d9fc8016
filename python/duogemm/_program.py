"""The program `duogemm`, which the package holds: its commands as functions, their results as data."""

import json
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import Any, Literal, TypeVar

from ._library import ArgumentError, DeviceError
from ._paths import PROGRAM
from ._results import Accuracy, Compare, Devices, Explain, Ladder, Latency, Plan, Replay, Result, Sweep, Tune, Verify

_PATH = pathlib.Path(__file__).parent / PROGRAM

Device = int | str
Ops = Literal["NN", "NT", "TN", "TT"]
Precision = Literal["fp32", "bf16x6", "f16x3"]
_Kind = TypeVar("_Kind", bound=Result)


def main() -> None:
    """The command `duogemm` of a shell."""
    os.execv(_PATH, ["duogemm", *sys.argv[1:]])


def _words(options: dict[str, Any]) -> Iterable[str]:
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
        elif isinstance(value, dict):
            yield flag
            yield ",".join(f"{key}={number}" for key, number in value.items())
        elif value is not None:
            yield from (flag, str(value))


def _pass_on(told: Iterable[str], lines: list[str]) -> None:
    """Shows warnings and progress as they come, and keeps all: the last line says why the program has failed."""
    for line in told:
        lines.append(line.rstrip("\n"))
        if line.startswith(("Warning: ", "... ")):
            print(lines[-1], file=sys.stderr, flush=True)


def _run(command: str, *positional: object, **options: Any) -> str:
    """What the command writes to its standard output."""
    words = [str(_PATH), command, *map(str, positional), *_words(options)]
    lines: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        listener = threading.Thread(target=_pass_on, args=(process.stderr, lines))
        listener.start()
        try:
            output = process.stdout.read()
        except BaseException:  # such as KeyboardInterrupt, which the program may not have heard of
            process.terminate()
            raise
        finally:
            listener.join()
    # A result that is wrong ends with 1, but is a result.
    if process.returncode not in (0, 1) or (process.returncode == 1 and not output):
        said = [line for line in lines if line.strip()]
        why = said[-1].removeprefix("duogemm: ") if said else process.returncode
        raise (ArgumentError if process.returncode == 2 else DeviceError)(f"duogemm {command}: {why}")
    return output


def _result(kind: type[_Kind], command: str, *positional: object, **options: Any) -> _Kind:
    return kind(json.loads(_run(command, *positional, **options, json="-")))


def devices() -> list[dict[str, Any]]:
    """What there is to run on.

    Returns
    -------
    list of dict
        Each device as bench/schema/README.md describes it, with its number.

    Examples
    --------
    >>> all(device["backend"] in ("opencl", "cuda", "cpu", "webgpu") for device in devices())
    True
    """
    return [{"number": entry["number"], **entry["device"]} for entry in _result(Devices, "devices")["devices"]]


def plan(
    m: int,
    n: int,
    k: int,
    *,
    ops: Ops = "NN",
    batch: int = 1,
    level: Literal["run_to_run", "everywhere", "batch_invariant"] = "run_to_run",
    precision: Precision | None = None,
    a_type: Literal["fp32", "bf16", "fp16"] = "fp32",
    b_type: Literal["fp32", "bf16", "fp16"] = "fp32",
    groups: int | None = None,
    top: int | None = None,
    backend: str | None = None,
    device: Device | None = None,
) -> Plan:
    """Which kernels the library would run for a multiplication.

    Parameters
    ----------
    m, n, k : int
        C is m x n, and k the length of the sums.
    ops : {"NN", "NT", "TN", "TT"}
        Which of A and B are stored transposed, column-major.
    batch : int
        How many products.
    a_type, b_type : {"fp32", "bf16", "fp16"}
        What the elements of A and B are stored in.
    groups : int, optional
        Of a grouped product, into how many groups the columns of B and C are cut, in place of a batch.
    top : int, optional
        How many schedules to list besides, the fastest by prediction first.

    Returns
    -------
    Plan
        The result file of `duogemm plan`.

    Examples
    --------
    >>> plan(1000, 50, 20000)["problem"]["k"]
    20000
    """
    return _result(
        Plan, "plan", m=m, n=n, k=k, ops=ops, batch=None if groups and batch == 1 else batch, level=level, precision=precision, a_type=a_type,
        b_type=b_type, groups=groups, top=top, backend=backend, device=device,
    )


def ladder(
    *,
    size: int | None = None,
    kernels: list[int | str] | None = None,
    set: dict[str, int] | None = None,
    backend: str | None = None,
    device: Device | None = None,
    **options: Any,
) -> Ladder:
    """Runs, checks and times the rungs of the ladder.

    Parameters
    ----------
    size : int, optional
        Of M, N and K. By default what takes less than a minute.
    kernels : list, optional
        Rungs or names, such as [1, 6, "naive"]. All by default.
    set : dict, optional
        Tunables for the kernels that have them.
    **options
        The command's others, such as m, n, k, seconds, shuffle, ldg.

    Returns
    -------
    Ladder
        The result file of `duogemm ladder`.

    Examples
    --------
    >>> result = ladder(size=128, kernels=[1], seconds=0.01)
    >>> result["runs"][0]["rows"][0]["kernel"]
    'naive'
    """
    return _result(Ladder, "ladder", size=size, kernels=kernels, set=set, backend=backend, device=device, **options)


def compare(
    *,
    shapes: list[str | pathlib.Path] | None = None,
    size: int | None = None,
    against: list[str] | None = None,
    precision: Precision | None = None,
    backend: str | None = None,
    device: Device | None = None,
    **options: Any,
) -> Compare:
    """Times the library's own multiplication and other libraries', and checks it.

    Parameters
    ----------
    shapes : list, optional
        Lists of shapes: files, or names of those that come with the program.
    size : int, optional
        Of M, N and K, in place of a list.
    against : list of str, optional
        The other libraries, such as ["cuBLAS", "CLBlast"], or ["none"]. By default all that are there.
    **options
        The command's others, such as m, n, k, ops, batch, level, through, graph, seconds.

    Returns
    -------
    Compare
        The result file of `duogemm compare`.

    Examples
    --------
    >>> result = compare(size=64, against=["none"], seconds=0.01)
    >>> result["runs"][0]["rows"][0]["ok"]
    True
    """
    return _result(
        Compare, "compare", shapes=shapes, size=size, against=against, precision=precision, backend=backend, device=device, **options
    )


def explain(
    kernels: list[int | str], *, size: int | None = None, backend: str | None = None, device: Device | None = None, **options: Any
) -> Explain:
    """Reads kernels' instructions, and says what bounds their speed.

    Parameters
    ----------
    kernels : list
        Rungs or names, with tunables of their own after them: [6, "8,USE_SHUFFLE=1"].
    size : int, optional
        Of M, N and K.
    **options
        The command's others, such as m, n, k, set, arch, dump.

    Returns
    -------
    Explain
        The result file of `duogemm explain`.
    """
    named = {"diff" if len(kernels) > 1 else "kernel": ":".join(map(str, kernels))}
    return _result(Explain, "explain", **named, size=size, backend=backend, device=device, **options)


def sweep(
    kernel: int | str,
    over: dict[str, str | list[int]],
    *,
    size: int | None = None,
    backend: str | None = None,
    device: Device | None = None,
    **options: Any,
) -> Sweep:
    """Times a kernel over one or two of its tunables or sizes.

    Parameters
    ----------
    kernel : int or str
        A rung or a name.
    over : dict
        One or two of its tunables, or of m, n, k and size, with values: {"WPTM": [2, 4, 8], "size": "256:2048:x2"}.
    size : int, optional
        Of those of M, N and K that are not gone over.
    **options
        The command's others, such as set, seconds.

    Returns
    -------
    Sweep
        The result file of `duogemm sweep`.
    """
    axes = [f"{name}={values if isinstance(values, str) else ','.join(map(str, values))}" for name, values in over.items()]
    return _result(Sweep, "sweep", *[f"--over={axis}" for axis in axes], kernel=kernel, size=size, backend=backend, device=device, **options)


def verify(
    *,
    kernels: list[int | str] | None = None,
    gemm: bool = False,
    backend: str | None = None,
    device: Device | None = None,
    **options: Any,
) -> Verify:
    """Checks every rung, or with `gemm` the library's kernels, on problems around the edges of tiles.

    Parameters
    ----------
    kernels : list, optional
        Rungs or names. All by default.
    **options
        The command's others, such as m, n, k, size, set, precision.

    Returns
    -------
    Verify
        The result file of `duogemm verify`, where each row says whether it is right (`ok`) or what is wrong (`fault`).

    Examples
    --------
    >>> all(row.get("ok", True) for row in verify(kernels=[1])["rows"])
    True
    """
    return _result(Verify, "verify", kernels=kernels, gemm=gemm or None, backend=backend, device=device, **options)


def accuracy(
    *,
    precision: list[Precision] | None = None,
    k: list[int] | None = None,
    backend: str | None = None,
    device: Device | None = None,
    **options: Any,
) -> Accuracy:
    """Measures errors against double precision, beside other libraries'.

    Parameters
    ----------
    precision : list, optional
        What products may be computed with.
    k : list of int, optional
        Lengths of the sums.
    **options
        The command's others, such as inputs, size, time.

    Returns
    -------
    Accuracy
        The result file of `duogemm accuracy`.
    """
    return _result(Accuracy, "accuracy", precision=precision, k=k, backend=backend, device=device, **options)


def latency(*, size: int | None = None, backend: str | None = None, device: Device | None = None, **options: Any) -> Latency:
    """Times the first call of a process, and later ones.

    Parameters
    ----------
    size : int, optional
        Of M, N and K.
    **options
        The command's others, such as m, n, k, precision.

    Returns
    -------
    Latency
        The result file of `duogemm latency`.
    """
    return _result(Latency, "latency", size=size, backend=backend, device=device, **options)


def warm(*, backend: str | None = None, device: Device | None = None, jobs: int | None = None) -> str:
    """Compiles all programs that the library may use on a device, so that no later process waits for them.

    Parameters
    ----------
    jobs : int, optional
        How many processes share the work. As many as there are cores by default.

    Returns
    -------
    str
        How many programs there are, and how many were compiled.
    """
    return _run("warm", backend=backend, device=device, jobs=jobs).strip()


def tune(
    out: str | pathlib.Path, *, budget: str = "5m", backend: str | None = None, device: Device | None = None, **options: Any
) -> Tune:
    """Searches for the fastest settings on a device, and writes them to a file where they are faster than what there is.

    Parameters
    ----------
    out : path
        The tuning file. The library reads those in DUOGEMM_TUNING_DIR, by default ~/.config/duogemm.
    budget : str
        How long it may take, such as "90s", "5m" or "2h".
    **options
        The command's others, such as shapes, ops, threads, seed, resume.

    Returns
    -------
    Tune
        The result file of `duogemm tune`: before and after on fresh shapes, and whether a file was written (`written`).
    """
    return _result(Tune, "tune", out=out, budget=budget, backend=backend, device=device, **options)


def replay(
    *traces: str | pathlib.Path,
    against: str | None = None,
    through: Literal["device", "host"] | None = None,
    repeat: int | None = None,
    warm: bool | None = None,
    backend: str | None = None,
    device: Device | None = None,
) -> Replay:
    """Runs the calls of recorded programs (DUOGEMM_RECORD) again.

    Parameters
    ----------
    *traces : path
        Files that were recorded.
    against : str, optional
        The other library, or "none".
    through : {"device", "host"}, optional
        Where the operands are.
    repeat : int, optional
        How many processes run each trace.
    warm : bool, optional
        Whether to run also in a process that has prepared all programs before.

    Returns
    -------
    Replay
        The result file of `duogemm replay`.
    """
    return _result(
        Replay, "replay", *traces, against=against, through=through, repeat=repeat, warm=warm or None, backend=backend, device=device
    )
