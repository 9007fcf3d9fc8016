"""Comparisons on lists of shapes."""

import results
import style
from page import Section


def sections(documents):
    for number, document in enumerate(documents, 1):
        for run in (run for run in document["runs"] if run["rows"]):
            lists = list(dict.fromkeys(row["list"] for row in run["rows"]))
            how = [*how_called(document), f"{document['operands']} operands", *(["in a graph"] if document["graph"] else []),
                   *filter(None, [document.get("level")]), *([f"list {lists[0]}"] if len(lists) == 1 else [])]
            others = " and ".join(other["title"] for other in run["others"]) or "nothing else"
            heading = f"duogemm versus {others}: {results.where(run['device'])}, {', '.join(how)}"
            yield Section(f"compare_{number}_{run['device']['backend']}", heading, "Each shape of each list, for every contender.",
                          [speeds(run, wanted) for wanted in lists],
                          [(summary(run), "The other's time over duogemm's: above 1, duogemm is faster.")])


def how_called(document):
    """What a comparison permits or asks for beyond the usual: another precision, plain arrays, several threads, little memory."""
    precision, through = document.get("precision", "fp32"), document.get("through", "device")
    return [*([f"by {precision}"] if precision != "fp32" else []), *([f"through {through}"] if through != "device" else []),
            *([f"{document['callers']} threads at once"] if document.get("callers", 1) > 1 else []),
            *([f"{document['device_memory']} bytes of device memory"] if document.get("device_memory") else [])]


def summary(run):
    return [["list", "other", "shapes", "geometric mean", "worst", "at"]] + [
        [row["list"] or "all", row["title"], str(row["shapes"]), f"{row['geometric_mean']:.2f}", f"{row['worst']:.2f}", row["worst_label"]]
        for row in run["summary"] if row["shapes"]]


def work(row):
    return row["m"] * row["n"] * row["k"] * row["batch"]


def times(run, rows):
    """Of each contender its name, and the rows that it was timed in with their median times."""
    yield "duogemm", [(row, row["time"]["median_s"]) for row in rows if row.get("time")]
    for index, other in enumerate(run["others"]):
        found = [(row, row["others"][index].get("time")) for row in rows if len(row.get("others", [])) > index]
        yield other["name"], [(row, time["median_s"]) for row, time in found if time]


def speeds(run, wanted):
    """Speed against size for every contender, of one list."""
    rows = sorted((row for row in run["rows"] if row["list"] == wanted and "skipped" not in row), key=work)
    cubes = all(row["m"] == row["n"] == row["k"] and row["batch"] == 1 for row in rows)
    figure, axis = style.lines_figure()
    for index, (name, found) in enumerate(times(run, rows)):
        look = style.line_style(index)
        axis.plot([work(row) ** (1 / 3) for row, _ in found], [2 * work(row) / seconds / 1e9 for row, seconds in found], label=name,
                  **{**look, "linestyle": look["linestyle"] if cubes else "none"})
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    style.count_by_magnitude(axis.yaxis)
    axis.set_xlabel("M = N = K" if cubes else "cube root of M N K, all of the batch")
    axis.set_ylabel("GFLOP/s")
    style.title(axis, f"{wanted}; {results.device_caption(run)}")
    return style.finish(figure, axis, f"GFLOP/s of {len(rows)} shapes of {wanted}", 1)
