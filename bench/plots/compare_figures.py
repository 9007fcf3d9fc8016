"""Figures of comparisons on lists of shapes."""

import math
import textwrap

import results
import style
from style import plt


def work(row):
    """The edge of the cube that is as much work."""
    return (row["m"] * row["n"] * row["k"] * row["batch"]) ** (1 / 3)


def gflops(row, seconds):
    return 2 * row["m"] * row["n"] * row["k"] * row["batch"] / seconds / 1e9


def contenders(run):
    """Names, and for each a function from a row to the median time, or None."""
    def of_other(place):
        def seconds(row):
            time = row["others"][place].get("time") if len(row.get("others", [])) > place else None
            return time["median_s"] if time else None
        return seconds

    def ours(row):
        return row["time"]["median_s"] if row.get("time") else None
    return [("duogemm", ours)] + [(other["name"], of_other(place)) for place, other in enumerate(run["others"])]


def speeds(run):
    """Speed against size for every contender: a panel for each list."""
    lists = list(dict.fromkeys(row["list"] for row in run["rows"]))
    columns = min(2, len(lists))
    lines = math.ceil(len(lists) / columns)
    figure, grid = plt.subplots(lines, columns, figsize=(5.6 * columns + 0.5, 3.6 * lines + 1.2), squeeze=False)
    for place, axis in enumerate(grid.flat):
        if place >= len(lists):
            axis.axis("off")
            continue
        panel(axis, [row for row in run["rows"] if row["list"] == lists[place] and "skipped" not in row], contenders(run))
        axis.set_title(lists[place], fontsize=9)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.suptitle(textwrap.fill(results.device_caption(run), 90 * columns), fontsize=8)
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.4 / (3.6 * lines + 1.2), 1, 1 - 0.1 / (3.6 * lines + 1.2)))
    return figure


def panel(axis, rows, everybody):
    cubes = all(row["m"] == row["n"] == row["k"] and row["batch"] == 1 for row in rows)
    rows = sorted(rows, key=work)
    for place, (name, seconds) in enumerate(everybody):
        points = [(work(row), gflops(row, seconds(row))) for row in rows if seconds(row)]
        look = style.line_style(place)
        look["linestyle"] = look["linestyle"] if cubes else "none"
        axis.plot([x for x, _ in points], [y for _, y in points], label=name, **look)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_major_formatter("{x:,g}")
    axis.set_xlabel("M = N = K" if cubes else "cube root of M N K, all of the batch")
    axis.set_ylabel("GFLOP/s")
