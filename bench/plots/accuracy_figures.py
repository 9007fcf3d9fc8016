"""Accuracies: the error against K, a picture for each kind of matrices."""

import results
import style
from page import Section


def sections(documents):
    for number, document in enumerate(documents, 1):
        kinds = list(dict.fromkeys(row["input"] for row in document["rows"]))
        if kinds:
            yield Section(f"accuracy_{number}", f"Accuracy: {results.where(document['device'])}, M=N={document['m']}",
                          "The error of a result in units of 2^-24 times what it is a sum of, |A||B|: the largest over all results that were "
                          "computed anew. Half a unit is the rounding of a result that is right; the bound is 2 sqrt(K) + 4.",
                          [picture(document, kind) for kind in kinds], [(table(document, kinds), "The largest error over all K.")])


def titles(document):
    """Of everybody, ours first."""
    return document["precisions"] + [other["title"] for other in document["others"]]


def largest(row, title):
    """The largest error; none where there is no result or one that is not finite."""
    return next((error.get("largest") for error in row["errors"] if error["title"] == title), None)


def picture(document, kind):
    """Lines on logarithmic scales, on which an error of zero has no place."""
    rows = [row for row in document["rows"] if row["input"] == kind]
    figure, axis = style.lines_figure()
    axis.plot([row["k"] for row in rows], [row["bound"] for row in rows], color="#808080", linewidth=1, label="bound",
              marker="_" if len(rows) == 1 else "", markersize=30)
    for index, title in enumerate(titles(document)):
        drawn = [(row["k"], largest(row, title)) for row in rows if largest(row, title)]
        axis.plot([k for k, _ in drawn], [units for _, units in drawn], label=title, **style.line_style(index))
    axis.set_xscale("log", base=2)
    axis.set_xticks([row["k"] for row in rows], [str(row["k"]) for row in rows], fontsize=8)
    axis.minorticks_off()
    axis.set_yscale("log")
    axis.set_xlabel("K")
    axis.set_ylabel("largest error")
    style.title(axis, f"{kind}: {rows[0]['about']}", results.device_caption(document))
    return style.finish(figure, axis, "Largest errors", 3)


def table(document, kinds):
    """The largest error of each contender over all K, a row for each kind of matrices."""
    def cell(rows, title):
        found = [largest(row, title) for row in rows
                 if any(error["title"] == title and "unavailable" not in error for error in row["errors"])]
        return "" if not found else "not finite" if None in found else results.speed_text(max(found))
    lines = [["matrices", "what they are", *titles(document)]]
    for kind in kinds:
        rows = [row for row in document["rows"] if row["input"] == kind]
        lines.append([kind, rows[0]["about"], *(cell(rows, title) for title in titles(document))])
    return lines
