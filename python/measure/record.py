"""What the measurements in this folder share: how often they repeat, and the file that they write."""

import datetime
import json
import pathlib
import statistics
import sys
import time

import duogemm


class Record:
    """A result file, as bench/schema/README.md describes it."""

    def __init__(self, what, device, modules):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        versions = {module.__name__: module.__version__ for module in modules}
        self.document = {"schema": "duogemm.python/1", "version": duogemm.__version__, "date": now, "what": what, "device": device,
                         "versions": versions, "rows": []}

    def add(self, case, contender, samples, flops=None):
        """Seconds of each sample. flops: in each, where a rate is of interest."""
        median = statistics.median(samples)
        row = {"case": case, "contender": contender, "median_s": median, "seconds": samples}
        if flops:
            row["gflops"] = flops / median / 1e9
        self.document["rows"].append(row)
        rate = f", {row['gflops']:.0f} GFLOP/s" if flops else ""
        print(f"{case}, {contender}: {median * 1e6:.2f} us{rate}", flush=True)
        return median

    def write(self):
        """To the file that the command line names."""
        pathlib.Path(sys.argv[1]).write_text(json.dumps(self.document, indent=1) + "\n")


def in_turns(contenders, rounds, wait=lambda: None):
    """Seconds of each call of each contender (functions by name), one after the other in every round; `wait` waits for what a call
    has left running, and is not timed."""
    samples = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            wait()
            start = time.perf_counter()
            call()
            samples[name].append(time.perf_counter() - start)
    wait()
    return samples
