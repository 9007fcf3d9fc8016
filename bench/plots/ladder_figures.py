"""Ladders: the climb, the roofline, and OpenCL against CUDA."""

import textwrap

import ladder_table
import results
import style
from page import Section


def groups_of(documents):
    """The runs of a ladder's file on one device and problem, numbered, with their heading and that file."""
    groups = {}
    for document in documents:
        for run in document["runs"]:
            groups.setdefault((run["device"]["name"].strip(), run["m"], run["n"], run["k"], id(document)), (document, []))[1].append(run)
    for number, (document, runs) in enumerate(groups.values(), 1):
        names = " and ".join(dict.fromkeys(results.runtime_name(run["device"]) for run in runs))
        yield number, f"{runs[0]['device']['name'].strip()}, {names}, {results.size_caption(runs[0])}{variant_of(document, runs)}", runs


def variant_of(document, runs):
    """What was switched, for a heading."""
    parts = [results.switches([row for run in runs for row in run["rows"]])]
    parts += ["cold operands"] if document.get("operands") == "cold" else []
    parts += [f"cache preference {document['cache_preference']}"] if document["cache_preference"] != "none" else []
    parts += [f"banks of {document['bank_bytes']} bytes"] if document["bank_bytes"] else []
    return "".join(f", {part}" for part in parts if part)


CLIMB = ("Time includes padding and transposing. What binds a kernel is a bound that it reaches to two thirds or more; what reaches none waits, "
         "for memory, at barriers or for instructions before. Bounds come from a result file of `duogemm explain`, given to the report as well. "
         "`duogemm explain --diff 6:7` compares two rungs.")


def climb_sections(documents, explanations):
    for number, heading, runs in groups_of(documents):
        tables = [(ladder_table.table(run, explanations), f"{ladder_table.answer(run)} Measured through {results.runtime_caption(run)}.")
                  for run in runs]
        yield Section(f"ladder_{number}", f"The climb: {heading}", CLIMB, [climb(runs)], tables)


def sections(documents):
    for number, heading, runs in groups_of(documents):
        rooflines = [roofline(run) for run in runs if roofs_of(run) and any("flops_per_byte" in row for row in run["rows"])]
        if rooflines:
            yield Section(f"roofline_{number}", f"Roofline: {heading}",
                          "Rungs by their numbers. A point under a roof is held down by something else: see `duogemm explain`.", rooflines)
        by_backend = {run["device"]["backend"]: run for run in runs}
        if {"cuda", "opencl"} <= set(by_backend):
            yield Section(f"runtimes_{number}", f"OpenCL against CUDA: {heading}", "Samples of one turn are paired; whiskers are quartiles.",
                          [against(by_backend["cuda"], by_backend["opencl"])])


def names_of(rows):
    return [results.name(row) + results.short_setting(row, rows).replace(" ", "\n", 1) for row in rows]


def climb(runs):
    """Speed rung by rung, of runs of one problem on one device, and what each gained on the rung before. Lines: the other library, the peak."""
    rows = runs[0]["rows"]
    figure, axis = style.bars_figure(names_of(rows), len(runs))
    height = 0.84 / len(runs)
    for index, run in enumerate(runs):
        found = {results.key(row): row for row in run["rows"]}
        timed = [(i + (index - (len(runs) - 1) / 2) * height, found.get(results.key(row), {})) for i, row in enumerate(rows)]
        bars = [(at, row, *results.speed_quartiles(row)) for at, row in timed if "gflops" in row]
        axis.barh([at for at, *_ in bars], [row["gflops"] for _, row, *_ in bars], height, label=results.runtime_name(run["device"]),
                  xerr=list(zip(*[quartiles for _, _, *quartiles in bars])) or None, error_kw=style.WHISKERS, **style.bar_style(index))
        for at, row, _, above in bars:
            before = ladder_table.times_before(row, run["rows"])
            text = results.speed_text(row["gflops"]) + (f"  x{before[0]:.2f}" if before else "") + ("" if row["ok"] else "  WRONG")
            axis.annotate(text, (row["gflops"] + above, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8,
                          bbox=style.PAPER, zorder=5)
        for at in [at for at, row in timed if "unsupported" in row]:
            axis.text(0.0, at, " not supported", va="center", fontsize=8)
    limits = [(run["reference"]["name"], run["reference"]["gflops"]) for run in runs if run["reference"]][:2]
    limits.append(("measured peak", max(run["peak_gflops"] for run in runs)))
    for line, (label, gflops) in zip(("--", ":", "-."), limits):
        axis.axvline(gflops, color="black", linestyle=line, linewidth=1.2, zorder=1, label=f"{label}: {results.speed_text(gflops)}")
    speeds = [row["gflops"] for run in runs for row in run["rows"] if "gflops" in row]
    axis.set_xlim(0, 1.18 * max(speeds + [gflops for _, gflops in limits]))
    axis.set_xlabel("GFLOP/s (quartiles)\nx: times the rung before")
    style.count_speeds(axis)
    style.title(axis, *[f"{results.device_caption(run)}; {results.size_caption(run)}" for run in runs])
    return style.finish(figure, axis, "GFLOP/s", 1)


def roofs_of(run):
    """The roofs that a run measured, as name, bytes for each second, line."""
    bandwidth = run.get("bandwidth") or {}
    return [(name, bandwidth[member], line)
            for name, member, line in (("shared cache", "cache", "-."), ("memory", "memory", ":")) if bandwidth.get(member)]


def roofline(run):
    """The rungs, at what a work-group computes for each byte that it gets from beyond it."""
    figure, axis = style.lines_figure()
    points = [row for row in run["rows"] if "gflops" in row and "flops_per_byte" in row]
    peak = run["peak_gflops"]
    intensities = [row["flops_per_byte"] for row in points]
    left, right = min(intensities) / 4, max(intensities) * 32  # room for numbers right of the points
    for name, bytes_per_second, line in roofs_of(run):
        roof = bytes_per_second / 1e9
        end = min(peak / roof, right)
        if end > left:
            axis.plot([left, end], [left * roof, end * roof], color="black", linestyle=line, linewidth=1.4, label=f"{name}: {roof:,.0f} GB/s")
    axis.axhline(peak, color="black", linewidth=1.4, label=f"measured peak: {peak:,.0f} GFLOP/s")
    if run["reference"]:
        axis.axhline(run["reference"]["gflops"], color="black", linestyle="--", linewidth=0.9, label=run["reference"]["name"])
    for x in dict.fromkeys(round(value, 2) for value in intensities):
        label_points(axis, x, sorted((row for row in points if round(row["flops_per_byte"], 2) == x), key=lambda row: -row["gflops"]))
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlim(left, right)
    style.count_by_magnitude(axis.yaxis)
    axis.set_xlabel("FLOP for each byte that a work-group\ngets from beyond it")
    axis.set_ylabel("GFLOP/s")
    axis.xaxis.set_major_formatter("{x:g}")
    style.title(axis, f"{results.device_caption(run)}; {results.size_caption(run)}")
    rungs = [f"{results.name(row)} {results.speed_text(row['gflops'])} at {row['flops_per_byte']:.3g}" for row in points]
    return style.finish(figure, axis, "GFLOP/s at FLOP per byte", 1, f"{style.words_of(axis)}; " + ", ".join(rungs))


def label_points(axis, x, group):
    """Markers, and rungs' numbers at them, the fastest first: those that are close share a label."""
    look = style.line_style(0)
    axis.plot([x] * len(group), [row["gflops"] for row in group], linestyle="none", marker=look["marker"], color=look["color"],
              markeredgecolor="black", markersize=6)
    labels = []
    for row in group:
        rung = row["rung"] or row["kernel"]
        if labels and labels[-1][0] / row["gflops"] < 1.3:
            labels[-1][1].append(rung)
        else:
            labels.append((row["gflops"], [rung]))
    for y, rungs in labels:
        text = textwrap.fill(", ".join(dict.fromkeys(rungs)), 20)
        axis.annotate(text, (x, y), textcoords="offset points", xytext=(7, 5), verticalalignment="top", fontsize=8.5)


def against(cuda, opencl):
    """OpenCL over CUDA, rung by rung; the samples of a turn are paired."""
    found = {results.key(row): row for row in opencl["rows"]}
    rows = [row for row in cuda["rows"] if "time" in row and "time" in found.get(results.key(row), {})]
    figure, axis = style.bars_figure(names_of(rows))
    ratios = [results.quartiles_of_ratio(row["time"]["seconds"], found[results.key(row)]["time"]["seconds"]) for row in rows]
    axis.barh(range(len(rows)), [middle - 1 for _, middle, _ in ratios], 0.6, left=1, error_kw=style.WHISKERS, **style.bar_style(1),
              xerr=[[middle - low for low, middle, _ in ratios], [high - middle for _, middle, high in ratios]])
    axis.axvline(1.0, color="black", linewidth=1)
    axis.set_xlabel("speed, OpenCL / CUDA (quartiles)")
    style.title(axis, f"{results.device_caption(cuda)}; {results.size_caption(cuda)}", results.device_caption(opencl))
    words = [f"{name} {middle:.3f}".replace("\n", " ") for name, (_, middle, _) in zip(names_of(rows), ratios)]
    return style.finish(figure, axis, "Speed through OpenCL over that through CUDA", words=", ".join(words))
