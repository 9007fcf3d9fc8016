"""How every figure looks: legible 400 pixels wide, readable in black and white, the same file from the same data."""

import io
import pathlib
import re
import textwrap

import matplotlib
import results

matplotlib.use("agg")
matplotlib.rcParams.update({"svg.hashsalt": "duogemm", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.linewidth": 0.3,
                            "axes.axisbelow": True, "hatch.linewidth": 0.6, "legend.fontsize": 8.5, "figure.max_open_warning": 0})

import matplotlib.pyplot as plt  # noqa: E402  (after the backend is chosen)
from matplotlib.container import BarContainer, ErrorbarContainer  # noqa: E402
from matplotlib.ticker import LogLocator, MaxNLocator  # noqa: E402
from matplotlib.transforms import ScaledTranslation  # noqa: E402

# Inches. A telephone shows a figure of this width with letters as large as they are on paper.
WIDTH = 4.3

# Shade, hatch, marker and line of the first, second, ... contender.
STYLES = [("#1f4e79", "", "o", "-"), ("#9dc3e6", "//", "s", "--"), ("#c55a11", "xx", "^", "-."), ("#f4b183", "..", "D", ":"),
          ("#595959", "\\\\", "v", "-"), ("#d9d9d9", "++", "P", "--"), ("#538135", "oo", "X", "-."),
          ("#a9d18e", "||", "<", ":")]

# Of whiskers, which are quartiles everywhere.
WHISKERS = {"ecolor": "black", "capsize": 2.5, "elinewidth": 0.9}

# Under text that stands on lines.
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def bar_style(index):
    shade, hatch, _, _ = STYLES[index % len(STYLES)]
    return {"color": shade, "hatch": hatch, "edgecolor": "black", "linewidth": 0.6}


def line_style(index):
    shade, _, marker, line = STYLES[index % len(STYLES)]
    return {"color": shade, "marker": marker, "linestyle": line, "markersize": 4.5, "markeredgecolor": "black",
            "markeredgewidth": 0.5, "linewidth": 1.2}


def lines_figure():
    return plt.subplots(figsize=(WIDTH, 2.5))


def bars_figure(names, bars_each=1):
    """For horizontal bars, the first name on top, one or several bars for each."""
    deepest = max(name.count("\n") for name in names) + 1
    each = max(0.19 * bars_each + 0.08, 0.16 * deepest + 0.06)
    figure, axis = plt.subplots(figsize=(WIDTH, each * len(names) + 0.1))
    name_bars(axis, names)
    return figure, axis


def name_bars(axis, names):
    axis.set_yticks(range(len(names)), names, fontsize=8.5)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(False, axis="y")
    axis.tick_params(axis="y", length=0)


def quartile_bars(axis, positions, quartiles, height, base, **look):
    """Horizontal bars from the base to the middle of each three quartiles, with whiskers to the others."""
    axis.barh(positions, [middle - base for _, middle, _ in quartiles], height, left=base, error_kw=WHISKERS,
              xerr=[[middle - low for low, middle, _ in quartiles], [high - middle for _, middle, high in quartiles]], **look)


def stack_bars(axis, layers):
    """Horizontal bars on top of each other: for each layer its label, and a width for each bar."""
    starts = None
    for index, (label, widths) in enumerate(layers):
        starts = starts or [0.0] * len(widths)
        if any(widths):
            axis.barh(range(len(widths)), widths, 0.7, left=starts, label=label, **bar_style(index))
        starts = [start + width for start, width in zip(starts, widths)]


def title(axis, *lines, width=62):
    text = "\n".join(textwrap.fill(line, width) for line in lines)
    axis.figure.suptitle(text, x=0.01, ha="left", fontsize=8.5)


def count_by_magnitude(axis):
    """Numbers at 1, 2 and 5 of each decade of a logarithmic scale."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_formatter("")


def speed_scales(axis, what):
    """GFLOP/s against something, both by their magnitudes."""
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    count_by_magnitude(axis.yaxis)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel(what)
    axis.set_ylabel("GFLOP/s")


def count_speeds(axis):
    axis.xaxis.set_major_locator(MaxNLocator(4))
    axis.xaxis.set_major_formatter("{x:,g}")


def words_of(axis):
    """What a figure shows, for those who do not see it: each bar, and of each line the range."""
    names = [label.get_text().replace("\n", " ") for label in axis.get_yticklabels()]
    parts = []
    for artist, label in zip(*axis.get_legend_handles_labels()):
        if isinstance(artist, BarContainer):
            bars = [(names[round(bar.get_y() + bar.get_height() / 2)], bar.get_width()) for bar in artist]
            parts.append(f"{label}: " + ", ".join(f"{name} {results.speed_text(width)}" for name, width in bars))
            continue
        line = artist[0] if isinstance(artist, ErrorbarContainer) else artist
        values = sorted(line.get_ydata()) if line.get_transform() == axis.transData else []
        span = f" from {results.speed_text(values[0])} to {results.speed_text(values[-1])}" if len(values) else ""
        parts.append(label + span)
    return "; ".join(parts)


def finish(figure, axis, what, legend_columns=0, words=""):
    """The figure with everything in its place and a legend below that hides nothing, and its words. Its height becomes the axis's own."""
    if legend_columns:
        lines = axis.get_xlabel().count("\n") + 1
        below = axis.transAxes + ScaledTranslation(0, -0.28 - 0.14 * lines, figure.dpi_scale_trans)
        axis.legend(loc="upper center", bbox_to_anchor=(0.4, 0), bbox_transform=below, ncol=legend_columns, frameon=False)
    wanted = figure.get_figheight()
    figure.set_figheight(wanted + 3)
    figure.tight_layout()
    figure.set_figheight(wanted + figure.get_figheight() * (1 - axis.get_position().height))
    figure.tight_layout()
    return figure, f"{what}: {words or words_of(axis)}."


def save(figure, *paths):
    for path in paths:
        picture = io.BytesIO()
        kind = pathlib.Path(path).suffix[1:]
        figure.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None, dpi=150, bbox_inches="tight", pad_inches=0.05)
        content = picture.getvalue()
        results.write(path, re.sub(rb"\s*\n\s*(?=[^<>]*>|</)", b" ", content) if kind == "svg" else content)  # a line for each tag that opens
    plt.close(figure)
