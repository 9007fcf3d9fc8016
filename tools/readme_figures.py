#!/usr/bin/env python3
"""Makes README.md's tables and chart from the result files under bench/results/.

  tools/readme_figures.py           writes both (the chart needs matplotlib, from PyPI)
  tools/readme_figures.py --check   only says whether README.md's tables are what the files say; needs nothing
"""

import argparse
import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
README = ROOT / "README.md"
CHART = RESULTS / "ladder.svg"

# Result file of `duogemm compare`, backend of the run, and what it measured.
COMPARISONS = [
    ("h200_compare_cuda.json", "cuda", "H200, CUDA"),
    ("h200_compare_graph.json", "cuda", "H200, CUDA, in a graph"),
    ("h200_compare_both.json", "opencl", "H200, OpenCL"),
    ("cpu_compare.json", "opencl", "CPU, OpenCL (PoCL)"),
]

# Column title, result file, and the shade and hatch that tell its bars apart in black and white.
COLUMNS = [
    ("H200, CUDA", "h200_cuda.json", "#1f4e79", ""),
    ("H200, OpenCL", "h200_opencl.json", "#9dc3e6", "//"),
    ("CPU, OpenCL (PoCL)", "cpu_opencl.json", "#c55a11", ""),
]


def load(name):
    """The one run of a ladder's result file."""
    document = json.loads((RESULTS / name).read_text())
    assert document["schema"] == "duogemm.ladder/1", name
    (run,) = document["runs"]
    return run


def key(row):
    return (row["rung"], row["kernel"], tuple(sorted(row["tunables"].items())))


def setting(row, standard):
    """What distinguishes a row from the first one of its rung."""
    return " ".join(f"{k}={v}" for k, v in row["tunables"].items() if standard["tunables"][k] != v)


def label(row, rows):
    standard = next(r for r in rows if r["rung"] == row["rung"])
    extra = setting(row, standard)
    return row["idea"] + (f" ({extra})" if extra else "")


def table(runs):
    rows = runs[0]["rows"]
    by_key = [{key(r): r for r in run["rows"]} for run in runs]
    lines = ["| rung | idea | " + " | ".join(title for title, *_ in COLUMNS) + " |",
             "| --- | --- |" + " ---: |" * len(COLUMNS)]
    for row in rows:
        cells = []
        for run, found in zip(runs, by_key):
            other = found[key(row)]
            if "unsupported" in other:
                cells.append("not supported")
                continue
            share = f" ({100 * other['gflops'] / run['reference']['gflops']:.0f}%)" if run["reference"] else ""
            cells.append(f"{other['gflops']:,.0f}{share}" if other["gflops"] >= 100 else f"{other['gflops']:.1f}{share}")
        lines.append(f"| {row['rung']} | {label(row, rows)} | " + " | ".join(cells) + " |")
    reference = [f"{run['reference']['gflops']:,.0f} ({run['reference']['name']})" if run["reference"] else "none"
                 for run in runs]
    peak = [f"{run['peak_gflops']:,.0f}" for run in runs]
    lines.append("| | library | " + " | ".join(reference) + " |")
    lines.append("| | measured peak | " + " | ".join(peak) + " |")
    return "\n".join(lines) + "\n"


def comparison_table():
    lines = ["| device | list | other | shapes | mean | worst | at |", "| --- | --- | --- | ---: | ---: | ---: | --- |"]
    for name, backend, title in COMPARISONS:
        document = json.loads((RESULTS / name).read_text())
        assert document["schema"] == "duogemm.compare/1", name
        for run in document["runs"]:
            if run["device"]["backend"] != backend:
                continue
            for row in (r for r in run["summary"] if r["shapes"] > 0):
                label = row["list"] or "all of these"
                lines.append(f"| {title} | {label} | {row['title']} | {row['shapes']} | {row['geometric_mean']:.2f} | "
                             f"{row['worst']:.2f} | {row['worst_label'].split('/')[-1]} |")
    return "\n".join(lines) + "\n"


def caption(run, name):
    device = run["device"]
    state = run["gpu_after"]
    driver = state["driver"] if state else device["driver"]
    clock = f"{state['sm_mhz']} MHz" if state else f"{device['max_clock_mhz']} MHz"
    return f"{device['name']}, {device['runtime']}, driver {driver}, {clock}; M=N=K={run['m']} ({name})"


def draw(runs):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "duogemm"  # the same file from the same data
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(10, 9), gridspec_kw={"height_ratios": [1.5, 1]})
    rows = runs[0]["rows"]
    names = []
    for row in rows:
        variant = setting(row, next(r for r in rows if r["rung"] == row["rung"]))
        short = variant.split(" ")[0] if "TSM" not in variant else "160x160"
        names.append(f"{row['rung']} {row['kernel']}" + (f"\n{short}" if variant else ""))
    for axis, members in ((axes[0], (0, 1)), (axes[1], (2,))):
        width = 0.8 / len(members)
        scale, unit = (1e3, "TFLOP/s") if members[0] == 0 else (1.0, "GFLOP/s")
        for place, member in enumerate(members):
            title, _, shade, hatch = COLUMNS[member]
            found = {key(r): r for r in runs[member]["rows"]}
            values = [found[key(r)].get("gflops", 0.0) / scale for r in rows]
            positions = [i + (place - (len(members) - 1) / 2) * width for i in range(len(rows))]
            axis.bar(positions, values, width, label=title, color=shade, hatch=hatch, edgecolor="black", linewidth=0.6)
        reference = runs[members[0]]["reference"]
        axis.axhline(reference["gflops"] / scale, color="black", linestyle="--", linewidth=1.2, label=reference["name"])
        axis.set_xticks(range(len(rows)), names, rotation=40, ha="right", fontsize=8)
        axis.set_ylabel(unit)
        axis.set_title("\n".join(textwrap.fill(caption(runs[m], COLUMNS[m][0]), 110) for m in members), fontsize=8)
        axis.set_ylim(0, 1.35 * reference["gflops"] / scale)  # room for the legend above the library's line
        axis.legend(fontsize=8, loc="upper left")
        axis.grid(axis="y", linewidth=0.3)
        axis.set_axisbelow(True)
    figure.tight_layout()
    figure.savefig(CHART, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    runs = [load(name) for _, name, *_ in COLUMNS]
    made = table(runs) + "\n" + "".join(f"{caption(run, title)}.  \n" for run, (title, *_) in zip(runs, COLUMNS))
    text = README.read_text()
    for name, content in (("table", made), ("comparison", comparison_table())):
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
        before, rest = text.split(begin)
        present, after = rest.split(end)
        if arguments.check and present != content:
            sys.exit(f"README.md's {name} is not what bench/results/ says: run tools/readme_figures.py")
        text = before + begin + content + end + after
    if not arguments.check:
        draw(runs)
        README.write_text(text)


if __name__ == "__main__":
    main()
