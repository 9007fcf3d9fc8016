"""Replays: programs from their first call on."""

import math

import results
import style
from page import Section

# The bars of a trace, from the top: whose, which pass, and what it is called.
BARS = [("ours", "first", "first, nothing on disk"), ("ours", "disk", "first, programs on disk"), ("ours", "warmed", "first, after warm()"),
        ("other", "first", "first"), ("ours", "again", "again"), ("other", "again", "again")]


def sections(documents):
    for number, document in enumerate(documents, 1):
        yield Section(f"replay_{number}", f"Programs from their first call on: {results.where(document['device'])}",
                      "Wall time of all calls of each trace: a first pass with nothing on disk, a first pass of a new process with programs on disk, "
                      "and a pass again in the same process. A context of the runtime is there before.",
                      [picture(trace, document) for trace in document["traces"]], [(table(document), "")])


def passes(trace):
    """The bars that a trace has, each with its pass."""
    return [(who, name, title, trace[who][name]) for who, name, title in BARS if trace[who] and name in trace[who]]


def milliseconds(seconds):
    return f"{1e3 * seconds:,.{max(0, 2 - max(0, math.floor(math.log10(1e3 * seconds))))}f}"


def picture(trace, document):
    """The wall times of one trace's passes, on a logarithmic scale."""
    found = passes(trace)
    walls = [1e3 * walk["wall_s"] for _, _, _, walk in found]
    figure, axis = style.bars_figure([title.replace(", ", ",\n") for _, _, title, _ in found])
    for index, (who, label) in enumerate((("ours", "duogemm"), ("other", trace["title"]))):
        chosen = [i for i, (whose, _, _, _) in enumerate(found) if whose == who]
        if chosen:
            axis.barh(chosen, [walls[i] for i in chosen], 0.7, label=label, **style.bar_style(index))
    for i, wall in enumerate(walls):
        axis.annotate(milliseconds(1e-3 * wall), (wall, i), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
    axis.set_xscale("log")
    axis.set_xlim(min(walls) / 3, max(walls) * (max(walls) / min(walls)) ** 0.2 * 1.5)  # room for the figures
    style.count_by_magnitude(axis.xaxis)
    axis.set_xlabel("ms")
    where = "plain arrays" if trace["through"] == "host" else "device memory"
    style.title(axis, f"{trace['trace']}: {trace['calls']:,} calls, {trace['different']:,} different, {where}", results.device_caption(document))
    return style.finish(figure, axis, f"Wall times of {trace['trace']} in ms", 2)


def table(document):
    """Wall times and what calls take on the host, a row for each trace and pass."""
    rows = [["trace", "who", "pass", "ms", "ratio", "call, median us", "99 percent", "new call, median us", "99 percent"]]
    for trace in document["traces"]:
        for who, name, title, walk in passes(trace):
            other = trace["other"]["again" if name == "again" else "first"] if trace["other"] and who == "ours" else None
            calls = [f"{1e6 * walk[member]:,.1f}" for member in ("call_median_s", "call_p99_s", "new_median_s", "new_p99_s")]
            rows.append([trace["trace"], trace[who]["name"], title, milliseconds(walk["wall_s"]),
                         f"{other['wall_s'] / walk['wall_s']:.2f}" if other else "", *calls])
    return rows
