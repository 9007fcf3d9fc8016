"""Figures of sweeps. Each comes with what it shows in words."""

import results
import style
from style import plt

# On a cell's own shade of grey, which does not follow the page's colours.
ON_LIGHT, ON_DARK = "#101010", "#f0f0f0"


def speed(point):
    return point["row"]["gflops"] if "row" in point and "gflops" in point["row"] else None


def title_of(document):
    """Which kernel, over which axes."""
    return f"{results.name(document)} over {' and '.join(axis['name'] for axis in document['axes'])}"


def caption(document):
    sizes = {name for axis in document["axes"] for name in ("mnk" if axis["name"] == "size" else axis["name"])}
    fixed = " ".join(f"{size.upper()}={document['points'][0][size]}" for size in "mnk" if size not in sizes)
    return f"{results.name(document)}; {results.device_caption(document)}" + (f"; {fixed}" if fixed else "")


def sweep(document):
    return heat_map(document) if len(document["axes"]) == 2 else line(document)


def words_of(document):
    """Every point, or of many the fastest and the slowest."""
    points = sorted((point for point in document["points"] if speed(point)), key=lambda point: -speed(point))
    chosen = points if len(points) <= 12 else [points[0], points[-1]]
    names = [axis["name"] for axis in document["axes"]]
    words = [" ".join(f"{name}={value}" for name, value in zip(names, point["at"])) + f" {results.speed_text(speed(point))}" for point in chosen]
    return f"GFLOP/s, of {len(points)} points{'' if chosen == points else ' the fastest and the slowest'}: " + ", ".join(words) + "."


def line(document):
    """The one axis is x."""
    figure, axis = style.lines_figure()
    points = [point for point in document["points"] if speed(point)]
    whiskers = list(zip(*[results.speed_quartiles(point["row"]) for point in points]))
    axis.errorbar([p["at"][0] for p in points], [speed(p) for p in points], yerr=whiskers or None, capsize=3,
                  label=document["kernel"], **style.line_style(0))
    if points and all(p["reference_gflops"] for p in points):
        axis.plot([p["at"][0] for p in points], [p["reference_gflops"] for p in points], label=document["reference"], **style.line_style(1))
    axis.set_xlabel(document["axes"][0]["name"])
    axis.set_ylabel("GFLOP/s (quartiles)")
    axis.set_ylim(bottom=0)
    style.title(axis, caption(document))
    return style.finish(figure, axis, 1), words_of(document)


def heat_map(document):
    """The first axis downwards, the second to the right; each field with its number, those that are not possible hatched."""
    down, across = document["axes"]
    figure, axis = plt.subplots(figsize=(max(style.WIDTH, 0.55 * len(across["values"]) + 1.2), max(1.2, 0.38 * len(down["values"]))))
    speeds = [[speed(point) for point in document["points"][i * len(across["values"]):(i + 1) * len(across["values"])]]
              for i in range(len(down["values"]))]
    values = [value for row in speeds for value in row if value]
    highest = max(values, default=1.0)
    axis.imshow([[value or float("nan") for value in row] for row in speeds], cmap="Greys", vmin=0, vmax=1.25 * highest, aspect="auto")
    for i, row in enumerate(speeds):
        for j, value in enumerate(row):
            if value:
                axis.text(j, i, results.speed_text(value), ha="center", va="center", fontsize=8.5,
                          color=ON_DARK if value > 0.7 * highest else ON_LIGHT, fontweight="bold" if value == highest else "normal")
            else:
                axis.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="//", edgecolor="gray", linewidth=0))
    axis.set_xticks(range(len(across["values"])), across["values"])
    axis.set_yticks(range(len(down["values"])), down["values"])
    axis.set_xlabel(f"{across['name']}\nGFLOP/s; hatched: not possible")
    axis.set_ylabel(down["name"])
    axis.grid(False)
    style.title(axis, caption(document))
    return style.finish(figure, axis), words_of(document)
