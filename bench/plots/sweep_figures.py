"""Figures of sweeps."""

import results
import style
from style import plt


def speed(point):
    return point["row"]["gflops"] if "row" in point and "gflops" in point["row"] else None


def caption(document):
    sizes = {name for axis in document["axes"] for name in ("mnk" if axis["name"] == "size" else axis["name"])}
    fixed = " ".join(f"{size.upper()}={document['points'][0][size]}" for size in "mnk" if size not in sizes)
    kernel = f"{document['rung']} {document['kernel']}".strip()
    return f"{kernel}; {results.device_caption(document)}" + (f"; {fixed}" if fixed else "")


def sweep(document):
    return heat_map(document) if len(document["axes"]) == 2 else line(document)


def line(document):
    """The one axis is x."""
    figure, axis = plt.subplots(figsize=(8, 5))
    points = [point for point in document["points"] if speed(point)]
    axis.errorbar([p["at"][0] for p in points], [speed(p) for p in points], yerr=quartiles(points), capsize=3,
                  label=document["kernel"], **style.line_style(0))
    if all(p["reference_gflops"] for p in points):
        axis.plot([p["at"][0] for p in points], [p["reference_gflops"] for p in points], label=document["reference"], **style.line_style(1))
    axis.set_xlabel(document["axes"][0]["name"])
    axis.set_ylabel("GFLOP/s (quartiles)")
    axis.set_ylim(bottom=0)
    axis.legend()
    style.title(axis, caption(document), width=95)
    figure.tight_layout()
    return figure


def quartiles(points):
    """How far the quartiles of the speed are below and above it."""
    below, above = [], []
    for point in points:
        time = point["row"]["time"]
        middle = speed(point)
        below.append(middle - middle * time["median_s"] / results.quantile(time["seconds"], 0.75))
        above.append(middle * time["median_s"] / results.quantile(time["seconds"], 0.25) - middle)
    return [below, above]


def heat_map(document):
    """The first axis downwards, the second to the right; each field with its number, those that are not possible hatched."""
    down, across = document["axes"]
    figure, axis = plt.subplots(figsize=(max(6.5, 0.8 * len(across["values"]) + 2), max(4, 0.5 * len(down["values"]) + 2)))
    speeds = [[speed(point) for point in document["points"][i * len(across["values"]):(i + 1) * len(across["values"])]]
              for i in range(len(down["values"]))]
    values = [value for row in speeds for value in row if value]
    image = axis.imshow([[value or float("nan") for value in row] for row in speeds], cmap="Greys", vmin=0, vmax=1.25 * max(values), aspect="auto")
    for i, row in enumerate(speeds):
        for j, value in enumerate(row):
            if value:
                dark = value > 0.7 * max(values)
                axis.text(j, i, f"{value:,.0f}" if value >= 100 else f"{value:.1f}", ha="center", va="center", fontsize=8,
                          color="white" if dark else "black", fontweight="bold" if value == max(values) else "normal")
            else:
                axis.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="//", edgecolor="gray", linewidth=0))
    axis.set_xticks(range(len(across["values"])), across["values"])
    axis.set_yticks(range(len(down["values"])), down["values"])
    axis.set_xlabel(across["name"])
    axis.set_ylabel(down["name"])
    axis.grid(False)
    figure.colorbar(image, label="GFLOP/s (hatched: not possible)")
    style.title(axis, caption(document), width=80)
    figure.tight_layout()
    return figure
