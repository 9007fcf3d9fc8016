"""Figures of the ladder's results."""

import results
import style
from style import plt


def names_of(rows):
    return [f"{row['rung']} {row['kernel']}".strip() + results.short_setting(row, rows).replace(" ", "\n", 1) for row in rows]


def bars(axis, runs, titles, first_style=0):
    """Speed of every setting, the runs beside each other, and the library's as a line."""
    rows = runs[0]["rows"]
    speeds = [row.get("gflops", 0.0) for run in runs for row in run["rows"]]
    references = [run["reference"] for run in runs if run["reference"]]
    divisor, unit = style.scale_of(speeds + [reference["gflops"] for reference in references])
    width = 0.8 / len(runs)
    for place, (run, name) in enumerate(zip(runs, titles)):
        found = {results.key(row): row for row in run["rows"]}
        heights = [found.get(results.key(row), {}).get("gflops", 0.0) / divisor for row in rows]
        positions = [i + (place - (len(runs) - 1) / 2) * width for i in range(len(rows))]
        axis.bar(positions, heights, width, label=name, **style.bar_style(first_style + place))
        for position, row in zip(positions, rows):
            if "unsupported" in found.get(results.key(row), {}):
                axis.text(position, 0.0, " not supported", rotation=90, ha="center", va="bottom", fontsize=7)
    highest = max(speeds) / divisor
    for reference in references:
        axis.axhline(reference["gflops"] / divisor, color="black", linestyle="--", linewidth=1.2, label=reference["name"])
        highest = max(highest, reference["gflops"] / divisor)
    axis.set_xticks(range(len(rows)), names_of(rows), rotation=40, ha="right", fontsize=8)
    axis.set_ylabel(unit)
    axis.set_ylim(0, 1.35 * highest)  # room for the legend above the library's line
    axis.legend(loc="upper left")
    axis.grid(False, axis="x")


def ladder(runs):
    """Of runs of one problem on one device."""
    figure, axis = plt.subplots(figsize=(10, 5.5))
    bars(axis, runs, [results.runtime_name(run["device"]) for run in runs])
    style.title(axis, *[f"{results.device_caption(run)}; {results.size_caption(run)}" for run in runs])
    figure.tight_layout()
    return figure


def rooflines(run):
    """The roofs that a run measured, as name, FLOP/s for each byte, line."""
    bandwidth = run.get("bandwidth") or {}
    return [(name, bandwidth[member], line)
            for name, member, line in (("shared cache", "cache", "-."), ("memory", "memory", ":")) if bandwidth.get(member)]


def can_draw_roofline(run):
    return bool(rooflines(run)) and any("flops_per_byte" in row for row in run["rows"])


def roofline(run):
    """The rungs, at what a work-group computes for each byte that it gets from beyond it."""
    figure, axis = plt.subplots(figsize=(9, 6))
    points = [row for row in run["rows"] if "gflops" in row and "flops_per_byte" in row]
    peak = run["peak_gflops"]
    intensities = [row["flops_per_byte"] for row in points]
    left, right = min(intensities) / 4, max(intensities) * 8
    for name, bytes_per_second, line in rooflines(run):
        roof = bytes_per_second / 1e9
        bend = peak / roof
        if bend > left:
            end = min(bend, right)
            axis.plot([left, end], [left * roof, end * roof], color="black", linestyle=line, linewidth=1.4, label=f"{name}: {roof:,.0f} GB/s")
    axis.axhline(peak, color="black", linewidth=1.4, label=f"measured peak: {peak:,.0f} GFLOP/s")
    if run["reference"]:
        axis.axhline(run["reference"]["gflops"], color="black", linestyle="--", linewidth=0.9, label=run["reference"]["name"])
    for x, group in grouped(points).items():
        label_points(axis, x, group)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlim(left, right)
    axis.set_ylim(bottom=min(row["gflops"] for row in points) / 4)  # room for the legend
    axis.yaxis.set_major_formatter("{x:,g}")
    axis.set_xlabel("FLOP for each byte that a work-group gets from beyond it")
    axis.set_ylabel("GFLOP/s")
    axis.xaxis.set_major_formatter("{x:g}")
    style.title(axis, f"{results.device_caption(run)}; {results.size_caption(run)}", width=100)
    axis.legend(loc="lower right")
    figure.tight_layout()
    return figure


def grouped(points):
    """Points at the same place on the x axis, the fastest first."""
    groups = {}
    for row in sorted(points, key=lambda r: -r["gflops"]):
        groups.setdefault(round(row["flops_per_byte"], 2), []).append(row)
    return groups


def label_points(axis, x, group):
    """Markers, and rungs' numbers beside them: those that are close share a label."""
    shade, _, marker, _ = style.style(0)
    axis.plot([x] * len(group), [row["gflops"] for row in group], linestyle="none", marker=marker, color=shade,
              markeredgecolor="black", markersize=6)
    labels = []
    for row in group:
        if labels and labels[-1][0] / row["gflops"] < 1.13:
            labels[-1][1].append(row["rung"])
        else:
            labels.append((row["gflops"], [row["rung"]]))
    for y, rungs in labels:
        axis.annotate(", ".join(dict.fromkeys(rungs)), (x, y), textcoords="offset points", xytext=(7, -3), fontsize=8)


def against(cuda, opencl):
    """OpenCL over CUDA, rung by rung; the samples of a turn are paired."""
    figure, axis = plt.subplots(figsize=(10, 4.5))
    found = {results.key(row): row for row in opencl["rows"]}
    rows = [row for row in cuda["rows"] if "time" in row and "time" in found.get(results.key(row), {})]
    for place, row in enumerate(rows):
        low, middle, high = results.quartiles_of_ratio(row["time"]["seconds"], found[results.key(row)]["time"]["seconds"])
        axis.bar(place, middle - 1, 0.6, bottom=1, **style.bar_style(1))
        axis.errorbar(place, middle, yerr=[[middle - low], [high - middle]], color="black", capsize=3, linewidth=1)
    axis.axhline(1.0, color="black", linewidth=1)
    axis.set_xticks(range(len(rows)), names_of(rows), rotation=40, ha="right", fontsize=8)
    axis.set_ylabel("speed through OpenCL / through CUDA")
    style.title(axis, f"{results.device_caption(cuda)}; {results.size_caption(cuda)}", results.device_caption(opencl))
    axis.grid(False, axis="x")
    figure.tight_layout()
    return figure
