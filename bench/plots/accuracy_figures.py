"""Figures of accuracies: the error against K, a picture for each kind of matrices."""

import results
import style


def titles(document):
    """Of everybody, ours first."""
    return document["precisions"] + [other["title"] for other in document["others"]]


def inputs(document):
    return list(dict.fromkeys(row["input"] for row in document["rows"]))


def largest(row, title):
    """The largest error; none where there is no result or one that is not finite."""
    return next((error.get("largest") for error in row["errors"] if error["title"] == title), None)


def figure_text(units):
    return "0" if units == 0 else f"{units:.2g}" if units < 1000 else f"{units:.0e}"


def picture(document, wanted):
    """Lines on logarithmic scales, on which an error of zero has no place."""
    rows = [row for row in document["rows"] if row["input"] == wanted]
    figure, axis = style.lines_figure()
    axis.plot([row["k"] for row in rows], [row["bound"] for row in rows], color="#808080", linewidth=1, label="bound",
              marker="_" if len(rows) == 1 else "", markersize=30)
    words = []
    for place, title in enumerate(titles(document)):
        points = [(row["k"], largest(row, title)) for row in rows]
        drawn = [(k, units) for k, units in points if units]
        axis.plot([k for k, _ in drawn], [units for _, units in drawn], label=title, **style.line_style(place))
        last = points[-1][1]
        words.append(f"{title} {'none' if last is None else figure_text(last)}")
    axis.set_xscale("log", base=2)
    axis.set_xticks([row["k"] for row in rows], [str(row["k"]) for row in rows], fontsize=8)
    axis.minorticks_off()
    axis.set_yscale("log")
    axis.set_xlabel("K")
    axis.set_ylabel("largest error")
    style.title(axis, f"{wanted}: {rows[0]['about']}", results.device_caption(document))
    return style.finish(figure, axis, 3), f"Largest errors at K={rows[-1]['k']}: " + ", ".join(words) + "."


def table(document):
    """The largest error of each contender over all K, a row for each kind of matrices."""
    table = [["matrices", "what they are", *titles(document)]]
    for wanted in inputs(document):
        rows = [row for row in document["rows"] if row["input"] == wanted]
        cells = []
        for title in titles(document):
            found = [largest(row, title) for row in rows if any(e["title"] == title and "unavailable" not in e for e in row["errors"])]
            cells.append("" if not found else "not finite" if None in found else figure_text(max(found)))
        table.append([wanted, rows[0]["about"], *cells])
    return table


def at_length(document, k):
    """The rows of one K."""
    return [row for row in document["rows"] if row["k"] == k]


def overview(document, k, wanted):
    """The largest errors at one K, of some contenders: a point for each, on a logarithmic scale, on which an error of zero has no place."""
    rows = at_length(document, k)
    figure, axis = style.bars_figure([row["about"] for row in rows])
    for place, title in enumerate(wanted):
        points = [(largest(row, title), i) for i, row in enumerate(rows)]
        axis.plot([units for units, _ in points if units], [i for units, i in points if units], label=title,
                  **{**style.line_style(place), "linestyle": "none"})
    axis.axvline(rows[0]["bound"], color="#808080", linewidth=1, label="bound")
    axis.set_xscale("log")
    axis.set_xlabel("largest error in units of 2^-24 |A||B|")
    style.title(axis, f"K={k}, M=N={document['m']}", results.device_caption(document))
    return figure, axis
