"""How every figure looks: readable in black and white, the same file from the same data."""

import textwrap

import matplotlib

matplotlib.use("agg")
matplotlib.rcParams.update({"svg.hashsalt": "duogemm", "font.size": 9, "axes.grid": True, "grid.linewidth": 0.3,
                            "axes.axisbelow": True, "hatch.linewidth": 0.6, "legend.fontsize": 8, "figure.max_open_warning": 0})

import matplotlib.pyplot as plt  # noqa: E402  (after the backend is chosen)

# Shade, hatch, marker and line of the first, second, ... contender.
STYLES = [("#1f4e79", "", "o", "-"), ("#9dc3e6", "//", "s", "--"), ("#c55a11", "xx", "^", "-."), ("#f4b183", "..", "D", ":"),
          ("#595959", "\\\\", "v", "-"), ("#d9d9d9", "++", "P", "--"), ("#538135", "oo", "X", "-.")]


def style(place):
    return STYLES[place % len(STYLES)]


def bar_style(place):
    shade, hatch, _, _ = style(place)
    return {"color": shade, "hatch": hatch, "edgecolor": "black", "linewidth": 0.6}


def line_style(place):
    shade, _, marker, line = style(place)
    return {"color": shade, "marker": marker, "linestyle": line, "markersize": 4.5, "markeredgecolor": "black",
            "markeredgewidth": 0.5, "linewidth": 1.2}


def title(axis, *lines, width=110):
    axis.set_title("\n".join(textwrap.fill(line, width) for line in lines), fontsize=8)


def scale_of(values):
    """The divisor and the unit that make GFLOP/s readable."""
    return (1e3, "TFLOP/s") if max(values, default=0.0) >= 2000 else (1.0, "GFLOP/s")


def save(figure, *paths):
    for path in paths:
        figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None, dpi=150)
    plt.close(figure)
