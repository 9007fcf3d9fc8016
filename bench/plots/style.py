"""How every figure looks: legible 400 pixels wide, readable in black and white, the same file from the same data."""

import functools
import io
import json
import pathlib
import re
import textwrap
from xml.etree import ElementTree

import matplotlib
import results

matplotlib.use("agg")
matplotlib.rcParams.update({"svg.hashsalt": "duogemm", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.linewidth": 0.3,
                            "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.6,
                            "legend.fontsize": 8.5, "figure.max_open_warning": 0})

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

# Where a label may stand, in points from its point: the first place that is free.
LABELS = [(aside, sign * up) for up in (0, 10, 20, 30, 40) for aside in (8, -8) for sign in (1, -1)]

# The names of SVG's elements and attributes.
SPACES = {"": "http://www.w3.org/2000/svg", "xlink": "http://www.w3.org/1999/xlink"}
SVG = "{" + SPACES[""] + "}"

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
    return axis.barh(positions, [middle - base for _, middle, _ in quartiles], height, left=base, error_kw=WHISKERS,
                     xerr=[[middle - low for low, middle, _ in quartiles], [high - middle for _, middle, high in quartiles]], **look)


def stack_bars(axis, layers):
    """Horizontal bars on top of each other: for each layer its label, and a width for each bar."""
    starts = None
    for index, (label, widths) in enumerate(layers):
        starts = starts or [0.0] * len(widths)
        if any(widths):
            axis.barh(range(len(widths)), widths, 0.7, left=starts, label=label, **bar_style(index))
        starts = [start + width for start, width in zip(starts, widths)]


def hover_bars(bars, texts):
    """What a browser shows of each bar under the pointer."""
    for bar, text in zip(bars, texts):
        hover_points(bar, [text])


def hover_points(artist, texts):
    """The same of an artist, or of each point of a line: kept as its identifier until the file is written."""
    artist.set_gid(json.dumps(texts))


def hover_rest(axis):
    """The same of all that has nothing to show yet: a bar's name and value, a point's coordinates."""
    for artist, label in zip(*axis.get_legend_handles_labels()):
        if isinstance(artist, BarContainer):
            for bar, (name, value) in zip(artist, values_of(artist, axis)):
                if not bar.get_gid():
                    hover_points(bar, [f"{name}: {value}, {label}"])
        elif line_of(artist).get_marker() not in ("", "None", None) and not line_of(artist).get_gid():
            hover_points(line_of(artist), [f"{label}: {results.speed_text(y)} at {x:,.10g}" for x, y in line_of(artist).get_xydata()])


def with_titles(svg):
    """An SVG in which what is under the pointer has a title, and without what matplotlib says of itself."""
    for prefix, space in SPACES.items():
        ElementTree.register_namespace(prefix, space)
    root = ElementTree.fromstring(svg)
    for metadata in root.findall(f"{SVG}metadata"):
        root.remove(metadata)
    for group in root.iter(f"{SVG}g"):
        if group.get("id", "").startswith("["):
            texts = json.loads(group.attrib.pop("id"))
            for element, text in zip(list(group.iter(f"{SVG}use")) or [group], texts):
                found = ElementTree.Element(f"{SVG}title")
                found.text = text
                element.insert(0, found)
    return ElementTree.tostring(root)


def overlap(one, other):
    """Of boxes: left, bottom, right, top."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def label_points(axis, points, join):
    """Labels at points of a finished figure: x, y, name. Those that are close share a label, which `join` makes of names. None hides another
    label or a point, if there is room."""
    axis.figure.canvas.draw()
    scale = 72 / axis.figure.dpi
    at = sorted(((*(scale * axis.transData.transform((x, y))), name) for x, y, name in points),
                key=lambda point: (round(point[0]), -point[1]))
    groups = []
    for x, y, name in at:
        if groups and abs(groups[-1][-1][0] - x) < 4 and abs(groups[-1][-1][1] - y) < 7:
            groups[-1].append((x, y, name))
        else:
            groups.append([(x, y, name)])
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y, _ in at]
    edge = scale * axis.get_window_extent().x1
    for group in groups:
        text = join([name for *_, name in group])
        x, y = group[0][0], sum(y for _, y, _ in group) / len(group)
        width = 4.6 * len(text)
        for aside, up in LABELS:
            left = x + aside if aside > 0 else x + aside - width
            box = (left, y + up - 5, left + width, y + up + 5)
            if box[2] < edge and not any(map(functools.partial(overlap, box), taken)):
                break
        taken.append(box)
        axis.annotate(text, axis.transData.inverted().transform((x / scale, y / scale)), textcoords="offset points", xytext=(aside, up),
                      ha="left" if aside > 0 else "right", va="center", fontsize=8.5, bbox=PAPER,
                      arrowprops={"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3} if up else None)


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


def values_of(bars, axis):
    """Each bar's name and value."""
    names = [label.get_text().replace("\n", " ") for label in axis.get_yticklabels()]
    return [(names[round(bar.get_y() + bar.get_height() / 2)], results.speed_text(bar.get_width())) for bar in bars]


def line_of(artist):
    return artist[0] if isinstance(artist, ErrorbarContainer) else artist


def words_of(axis):
    """What a figure shows, for those who do not see it: each bar, and of each line the range."""
    parts = []
    for artist, label in zip(*axis.get_legend_handles_labels()):
        if isinstance(artist, BarContainer):
            parts.append(f"{label}: " + ", ".join(f"{name} {value}" for name, value in values_of(artist, axis)))
            continue
        line = line_of(artist)
        values = sorted(line.get_ydata()) if line.get_transform() == axis.transData else []
        span = f" from {results.speed_text(values[0])} to {results.speed_text(values[-1])}" if len(values) else ""
        parts.append(label + span)
    return "; ".join(parts)


def finish(figure, axis, what, legend_columns=0, words=""):
    """The figure with everything in its place and a legend below that hides nothing, and its words. Its height becomes the axis's own."""
    hover_rest(axis)
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
        if kind == "svg":
            content = re.sub(rb"\s*\n\s*(?=[^<>]*>|</)", b" ", with_titles(content))  # a line for each tag that opens
        results.write(path, content)
    plt.close(figure)
