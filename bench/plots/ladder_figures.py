"""Figures of the ladder's results. Each comes with what it shows in words."""

import textwrap

import results
import style
from ladder_table import times_before


def names_of(rows):
    return [results.name(row) + results.short_setting(row, rows).replace(" ", "\n", 1) for row in rows]


def climb(runs):
    """Speed rung by rung, of runs of one problem on one device."""
    names = names_of(runs[0]["rows"])
    figure, axis = style.bars_figure(names, len(runs))
    draw_climb(axis, runs, [results.runtime_name(run["device"]) for run in runs])
    style.title(axis, *[f"{results.device_caption(run)}; {results.size_caption(run)}" for run in runs])
    return style.finish(figure, axis, 1), climb_text(runs)


def draw_climb(axis, runs, titles, first_style=0):
    """Bars with whiskers and what each gained on the rung before; lines for the other library and the peak."""
    rows = runs[0]["rows"]
    height = 0.84 / len(runs)
    for place, (run, title) in enumerate(zip(runs, titles)):
        found = {results.key(row): row for row in run["rows"]}
        label = title
        for i, row in enumerate(rows):
            at = i + (place - (len(runs) - 1) / 2) * height
            draw_bar(axis, at, height, found.get(results.key(row), {}), run, label, first_style + place)
            label = None
    highest = max([row["gflops"] for run in runs for row in run["rows"] if "gflops" in row], default=1.0)
    for line, (label, gflops) in zip(("--", ":", "-."), limits(runs)):
        axis.axvline(gflops, color="black", linestyle=line, linewidth=1.2, zorder=1, label=f"{label}: {results.speed_text(gflops)}")
        highest = max(highest, gflops)
    axis.set_xlim(0, 1.18 * highest)
    axis.set_xlabel("GFLOP/s (quartiles)\nx: times the rung before")
    style.count_speeds(axis)


def draw_bar(axis, at, height, row, run, label, place):
    if "gflops" not in row:
        axis.text(0.0, at, " not supported" if "unsupported" in row else "", va="center", fontsize=8)
        return
    below, above = results.speed_quartiles(row)
    axis.barh(at, row["gflops"], height, xerr=[[below], [above]], label=label, error_kw=style.WHISKERS, **style.bar_style(place))
    before = times_before(row, run["rows"])
    text = results.speed_text(row["gflops"]) + (f"  x{before[0]:.2f}" if before else "") + ("" if row["ok"] else "  WRONG")
    axis.annotate(text, (row["gflops"] + above, at), xytext=(4, 0), textcoords="offset points", va="center",
                  fontsize=8, bbox=style.PAPER, zorder=5)


def limits(runs):
    """The lines that bars are seen against: the other library, and the highest measured peak."""
    references = [(run["reference"]["name"], run["reference"]["gflops"]) for run in runs if run["reference"]]
    return references[:2] + [("measured peak", max(run["peak_gflops"] for run in runs))]


def climb_text(runs):
    parts = []
    for run in runs:
        rows = [f"{results.name(row)}{results.short_setting(row, run['rows'])} {results.speed_text(row['gflops'])}"
                if "gflops" in row else f"{results.name(row)} not supported" for row in run["rows"]]
        parts.append(f"{run['device']['name'].strip()} through {results.runtime_name(run['device'])}, GFLOP/s: " + ", ".join(rows))
    return "; ".join(parts + [f"{label} {results.speed_text(gflops)}" for label, gflops in limits(runs)]) + "."


def rooflines(run):
    """The roofs that a run measured, as name, FLOP/s for each byte, line."""
    bandwidth = run.get("bandwidth") or {}
    return [(name, bandwidth[member], line)
            for name, member, line in (("shared cache", "cache", "-."), ("memory", "memory", ":")) if bandwidth.get(member)]


def can_draw_roofline(run):
    return bool(rooflines(run)) and any("flops_per_byte" in row for row in run["rows"])


def roofline(run):
    """The rungs, at what a work-group computes for each byte that it gets from beyond it."""
    figure, axis = style.lines_figure()
    points = [row for row in run["rows"] if "gflops" in row and "flops_per_byte" in row]
    peak = run["peak_gflops"]
    intensities = [row["flops_per_byte"] for row in points]
    left, right = min(intensities) / 4, max(intensities) * 32  # room for numbers behind the points
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
    style.count_by_magnitude(axis.yaxis)
    axis.set_xlabel("FLOP for each byte that a work-group\ngets from beyond it")
    axis.set_ylabel("GFLOP/s")
    axis.xaxis.set_major_formatter("{x:g}")
    style.title(axis, f"{results.device_caption(run)}; {results.size_caption(run)}")
    roofs = [f"{name} {roof / 1e9:,.0f} GB/s" for name, roof, _ in rooflines(run)]
    rungs = [f"{results.name(row)} {results.speed_text(row['gflops'])} at {row['flops_per_byte']:.3g}" for row in points]
    return style.finish(figure, axis, 1), (f"Roofs: {', '.join(roofs)}, measured peak {peak:,.0f} GFLOP/s. GFLOP/s at FLOP per byte: "
                                           + ", ".join(rungs) + ".")


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
    names = names_of(rows)
    figure, axis = style.bars_figure(names)
    ratios = [results.quartiles_of_ratio(row["time"]["seconds"], found[results.key(row)]["time"]["seconds"]) for row in rows]
    for place, (low, middle, high) in enumerate(ratios):
        axis.barh(place, middle - 1, 0.6, left=1, **style.bar_style(1))
        axis.errorbar(middle, place, xerr=[[middle - low], [high - middle]], color="black", capsize=2.5, linewidth=0.9)
    axis.axvline(1.0, color="black", linewidth=1)
    axis.set_xlabel("speed, OpenCL / CUDA (quartiles)")
    style.title(axis, f"{results.device_caption(cuda)}; {results.size_caption(cuda)}", results.device_caption(opencl))
    words = [f"{name} {middle:.3f}".replace("\n", " ") for name, (_, middle, _) in zip(names, ratios)]
    return style.finish(figure, axis), "Speed through OpenCL over that through CUDA: " + ", ".join(words) + "."
