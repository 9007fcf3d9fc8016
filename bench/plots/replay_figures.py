"""Figures of replays: programs from their first call on."""

import math
import textwrap

import results
import style
from style import plt

# The bars of a trace, from the left: whose, which pass, and what it is called.
BARS = [("ours", "first", "first,\nnothing\non disk"), ("ours", "disk", "first,\nprograms\non disk"),
        ("ours", "warmed", "first,\nafter\nwarm()"), ("other", "first", "first"), ("ours", "again", "again"), ("other", "again", "again")]


def passes(trace):
    """The bars that a trace has, each with its pass."""
    return [(who, name, title, trace[who][name]) for who, name, title in BARS if trace[who] and name in trace[who]]


def milliseconds(seconds):
    return f"{1e3 * seconds:,.{max(0, 2 - max(0, math.floor(math.log10(1e3 * seconds))))}f}"


def replay(document):
    """A panel for each trace, on logarithmic scales of their own."""
    traces = document["traces"]
    columns = min(3, len(traces))
    lines = math.ceil(len(traces) / columns)
    figure, grid = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.5 * lines + 0.6), squeeze=False)
    for axis, trace in zip(grid.flat, traces):
        panel(axis, trace)
    for axis in list(grid.flat)[len(traces):]:
        axis.axis("off")
    figure.suptitle(textwrap.fill(results.device_caption(document), 60 * columns), fontsize=8)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.1 / (3.5 * lines + 0.6)))
    return figure


def panel(axis, trace):
    found = passes(trace)
    names = {"ours": "duogemm", "other": trace["title"]}
    for place, who in enumerate(dict.fromkeys(who for who, _, _, _ in found)):
        chosen = [(i, walk["wall_s"]) for i, (whose, _, _, walk) in enumerate(found) if whose == who]
        axis.bar([i for i, _ in chosen], [1e3 * seconds for _, seconds in chosen], 0.7, label=names[who], **style.bar_style(place))
    walls = [1e3 * walk["wall_s"] for _, _, _, walk in found]
    for i, (_, _, _, walk) in enumerate(found):
        axis.text(i, 1.05e3 * walk["wall_s"], milliseconds(walk["wall_s"]), ha="center", va="bottom", fontsize=7)
    axis.set_yscale("log")
    axis.set_ylim(min(walls) / 3, max(walls) * (max(walls) / min(walls)) ** 0.35 * 3)  # room for the legend
    axis.yaxis.set_major_formatter("{x:,.10g}")
    axis.set_xticks(range(len(found)), [title for _, _, title, _ in found], fontsize=7)
    axis.set_ylabel("ms")
    where = "plain arrays" if trace["through"] == "host" else "device memory"
    style.title(axis, f"{trace['trace']}: {trace['calls']:,} calls, {trace['different']:,} different, {where}", width=60)
    axis.legend(loc="upper right")
    axis.grid(False, axis="x")


def table(document):
    """Wall times and what calls take on the host, a row for each trace and pass."""
    rows = [["trace", "who", "pass", "ms", "ratio", "call, median us", "99 percent", "new call, median us", "99 percent"]]
    for trace in document["traces"]:
        for who, name, title, walk in passes(trace):
            beside = trace["other"]["again" if name == "again" else "first"] if trace["other"] and who == "ours" else None
            calls = [f"{1e6 * walk[member]:,.1f}" for member in ("call_median_s", "call_p99_s", "new_median_s", "new_p99_s")]
            rows.append([trace["trace"], trace[who]["name"], title.replace("\n", " "), milliseconds(walk["wall_s"]),
                         f"{beside['wall_s'] / walk['wall_s']:.2f}" if beside else "", *calls])
    return rows
