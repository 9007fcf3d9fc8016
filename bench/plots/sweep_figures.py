"""Sweeps: a line of one axis, a heat map of two."""

import results
import style
from page import Section
from style import plt

# On a cell's own shade of grey, which does not follow the page's colours.
ON_LIGHT, ON_DARK = "#101010", "#f0f0f0"


def sections(documents):
    for number, document in enumerate(documents, 1):
        axes = " and ".join(axis["name"] for axis in document["axes"])
        yield Section(f"sweep_{number}", f"Sweep: {results.name(document)} over {axes}, {results.where(document['device'])}", "", [picture(document)])


def speed(point):
    return point["row"]["gflops"] if "row" in point and "gflops" in point["row"] else None


def picture(document):
    figure, axis = heat_map(document) if len(document["axes"]) == 2 else line(document)
    sizes = {name for found in document["axes"] for name in ("mnk" if found["name"] == "size" else found["name"])}
    fixed = " ".join(f"{size.upper()}={document['points'][0][size]}" for size in "mnk" if size not in sizes)
    style.title(axis, f"{results.name(document)}; {results.device_caption(document)}" + (f"; {fixed}" if fixed else ""))
    return style.finish(figure, axis, "GFLOP/s", int(len(document["axes"]) == 1), words_of(document))


def words_of(document):
    """Every point, or of many the fastest and the slowest."""
    points = sorted((point for point in document["points"] if speed(point)), key=lambda point: -speed(point))
    chosen = points if len(points) <= 12 else [points[0], points[-1]]
    names = [axis["name"] for axis in document["axes"]]
    words = [" ".join(f"{name}={value}" for name, value in zip(names, point["at"])) + f" {results.speed_text(speed(point))}" for point in chosen]
    return f"of {len(points)} points{'' if chosen == points else ' the fastest and the slowest'}, " + ", ".join(words)


def line(document):
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
    return figure, axis


def heat_map(document):
    """The first axis downwards, the second to the right; each field with its number, those that are not possible hatched."""
    down, across = document["axes"]
    figure, axis = plt.subplots(figsize=(max(style.WIDTH, 0.55 * len(across["values"]) + 1.2), max(1.2, 0.38 * len(down["values"]))))
    speeds = [[speed(point) for point in document["points"][i * len(across["values"]):(i + 1) * len(across["values"])]]
              for i in range(len(down["values"]))]
    highest = max((value for row in speeds for value in row if value), default=1.0)
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
    return figure, axis
