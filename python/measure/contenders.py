"""One program under several contenders: as it is, and under `duogemm run` in each precision."""

import argparse
import contextlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading


class Lazy:
    """A module that is imported where it is used."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, member):
        return getattr(importlib.import_module(self.name), member)


torch = Lazy("torch")
PLAIN = "cuBLAS"
PRECISIONS = ("fp32", "f16x3")
CONTENDERS = (PLAIN, *PRECISIONS)
SUMMED = re.compile(
    r"^duogemm: (?P<entry>.*?)[:,]? (?P<served>\d+) served(?P<where>[^,(\n]*)(?:, (?P<passed>\d+) passed on)?(?: \((?P<why>.*)\))?",
    re.MULTILINE)


def graph_of(step):
    """The step in a CUDA graph, as PyTorch's notes have it, some steps on another stream first; and what it will have computed."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph, result


class Process:
    """A Python script under a contender. Lines go to its standard input and come from its standard output; what it says on its error
    output is kept for the end, because libraries are talkative."""

    def __init__(self, duogemm, contender, *words):
        command = [sys.executable, *map(str, words)]
        environment = {**os.environ, "DUOGEMM_LOG": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TOKENIZERS_PARALLELISM": "false"}
        if contender != PLAIN:
            command = [str(duogemm), "run", "--", *command]
            environment["DUOGEMM_PRECISION"] = contender
        self.told = tempfile.TemporaryFile("w+", errors="replace")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.told}
        self.process = subprocess.Popen(command, env=environment, text=True, **pipes)

    def tell(self, line):
        with contextlib.suppress(BrokenPipeError):  # Reading from it shows that it has ended.
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def hear(self, seconds):
        """The object in its next line; None where it ended, or was killed because it took longer than that."""
        limit = threading.Timer(seconds, self.process.kill)
        limit.start()
        line = self.process.stdout.readline()
        limit.cancel()
        return json.loads(line) if line else None

    def close(self):
        """Its last turn has been."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def end(self, seconds):
        """Its exit status; it is killed where it takes longer than that."""
        self.close()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def error_output(self):
        self.told.seek(0)
        return self.told.read()


def last_line(text):
    """What a failed process said last, for a person: the line that names its exception, where there is one."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not SUMMED.search(line)]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return (named or lines or ["nothing was said"])[-1][:300]


def summed_up(text):
    """What DUOGEMM_LOG=1 says at the end of a process: calls served and passed on, those in captures apart, and why."""
    calls = {"served": 0, "passed_on": 0, "captured_served": 0, "captured_passed_on": 0, "why": []}
    for found in SUMMED.finditer(text):
        where = "captured_" if "capture" in found["entry"] + found["where"] else ""
        calls[where + "served"] += int(found["served"])
        calls[where + "passed_on"] += int(found["passed"] or 0)
        if found["why"]:
            calls["why"].append(f"{found['entry']}: {found['why']}")
    return calls


def print_calls(text):
    """What DUOGEMM_LOG=1 says at the end of a process."""
    calls = summed_up(text)
    print("  {served} calls served and {passed_on} passed on, in captures {captured_served} and {captured_passed_on}".format(**calls))
    print("".join(f"  passed on by {why}\n" for why in dict.fromkeys(calls["why"])), end="", flush=True)


def program_named(text):
    """The path of duogemm, for a command line's parser."""
    found = shutil.which(text)
    if not found:
        raise argparse.ArgumentTypeError(f"there is no program {text}")
    return found
