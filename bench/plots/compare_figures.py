"""Figures of comparisons on lists of shapes."""

import results
import style


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


def lists(run):
    return list(dict.fromkeys(row["list"] for row in run["rows"]))


def speeds(run, wanted):
    """Speed against size for every contender, of one list."""
    rows = sorted((row for row in run["rows"] if row["list"] == wanted and "skipped" not in row), key=work)
    cubes = all(row["m"] == row["n"] == row["k"] and row["batch"] == 1 for row in rows)
    figure, axis = style.lines_figure()
    words = []
    for place, (name, seconds) in enumerate(contenders(run)):
        points = [(work(row), gflops(row, seconds(row))) for row in rows if seconds(row)]
        look = style.line_style(place)
        look["linestyle"] = look["linestyle"] if cubes else "none"
        axis.plot([x for x, _ in points], [y for _, y in points], label=name, **look)
        found = [y for _, y in points]
        if found:
            words.append(f"{name} from {results.speed_text(min(found))} to {results.speed_text(max(found))} GFLOP/s")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    style.count_by_magnitude(axis.yaxis)
    axis.set_xlabel("M = N = K" if cubes else "cube root of M N K, all of the batch")
    axis.set_ylabel("GFLOP/s")
    style.title(axis, f"{wanted}; {results.device_caption(run)}")
    return style.finish(figure, axis, 1), f"{len(rows)} shapes of {wanted}: " + ", ".join(words) + "."
