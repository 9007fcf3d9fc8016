#!/usr/bin/env python3
"""Makes pictures and one HTML page from result files; `duogemm report` and `duogemm sweep --plot` call it.

  report.py RESULT.json... -o FOLDER    FOLDER/index.html, which needs no network, and each picture as SVG and PNG beside it
  report.py --sweep RESULT.json FILE    one sweep as one picture
"""

import argparse
import base64
import html
import pathlib
import sys

sys.dont_write_bytecode = True  # this may lie where nobody may write

import results  # noqa: E402

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>duogemm report</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }}
img {{ max-width: 100%; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid #999; padding: 0.2em 0.6em; text-align: left; }}
</style>
</head>
<body>
<h1>duogemm report</h1>
<table>
<tr><th>file</th><th>what</th><th>date (UTC)</th><th>program</th></tr>
{files}</table>
{warnings}{sections}</body>
</html>
"""


class Picture:
    def __init__(self, name, title, text, figure, table=()):
        """table: rows of cells below the picture, the first of them the heads of columns."""
        self.name, self.title, self.text, self.figure, self.table = name, title, text, figure, table


def ladder_pictures(documents):
    import ladder_figures
    import toggle_figures
    pictures = []
    groups = {}
    for document in documents:
        for run in document["runs"]:
            groups.setdefault((run["device"]["name"].strip(), run["m"], run["n"], run["k"], id(document)), []).append(run)
    for number, runs in enumerate(groups.values(), 1):
        pictures.append(Picture(f"ladder_{number}", "The ladder", "Each rung with its settings, beside the library on the same device "
                                "(dashed). Time includes padding and transposing.", ladder_figures.ladder(runs)))
        for run in filter(ladder_figures.can_draw_roofline, runs):
            pictures.append(Picture(f"roofline_{number}_{run['device']['backend']}", "Roofline",
                                    "Rungs by their numbers. A point under a roof is held down by something else: see `duogemm explain`.",
                                    ladder_figures.roofline(run)))
        by_backend = {run["device"]["backend"]: run for run in runs}
        if {"cuda", "opencl"} <= set(by_backend):
            pictures.append(Picture(f"runtimes_{number}", "OpenCL against CUDA", "Samples of one turn are paired; whiskers are quartiles.",
                                    ladder_figures.against(by_backend["cuda"], by_backend["opencl"])))
    return pictures + toggle_pictures(toggle_figures.effects_between(documents), "toggles_ladder")


def toggle_pictures(effects, name):
    import toggle_figures
    pictures = []
    places = list(dict.fromkeys((effect["device"], effect["size"]) for effect in effects))
    for number, place in enumerate(places, 1):
        chosen = [effect for effect in effects if (effect["device"], effect["size"]) == place]
        pictures.append(Picture(f"{name}_{number}", "What switches change", "By how many percent a kernel is faster with a switch on. "
                                "Paired samples: those taken in turns, or in the same order in separate runs.", toggle_figures.toggles(chosen)))
    return pictures


def compare_pictures(documents):
    import compare_figures
    return [Picture(f"compare_{i}_{run['device']['backend']}", "Speed against size", "Each shape of each list, for every contender. "
                    f"Operands are {document['operands']}.", compare_figures.speeds(run))
            for i, document in enumerate(documents, 1) for run in document["runs"] if run["rows"]]


def sweep_pictures(documents):
    import sweep_figures
    import toggle_figures
    pictures = [Picture(f"sweep_{i}", "Sweep", f"{document['kernel']} over " + " and ".join(axis["name"] for axis in document["axes"]) + ".",
                        sweep_figures.sweep(document)) for i, document in enumerate(documents, 1)]
    effects = [effect for document in documents for effect in toggle_figures.effects_in_sweep(document)]
    return pictures + toggle_pictures(effects, "toggles_sweep")


def explain_pictures(documents):
    import explain_figures
    pictures = []
    for number, document in enumerate(documents, 1):
        if explain_figures.explained(document):
            pictures.append(Picture(f"mix_{number}", "What main loops consist of", "From the compiled kernels.", explain_figures.mix(document)))
        if any(kernel["bounds"] and kernel["gflops"] for kernel in document["kernels"]):
            pictures.append(Picture(f"bounds_{number}", "Speed and bounds", "What was measured, and the lowest bound with what sets it.",
                                    explain_figures.bounds(document)))
    return pictures


def replay_pictures(documents):
    import replay_figures
    return [Picture(f"replay_{number}", "Programs from their first call on", "Wall time of all calls of each trace: a first pass with nothing "
                    "on disk, a first pass of a new process with programs on disk, and a pass again in the same process. A context of the "
                    "runtime is there before.", replay_figures.replay(document), replay_figures.table(document))
            for number, document in enumerate(documents, 1)]


DRAW = {"ladder": ladder_pictures, "compare": compare_pictures, "replay": replay_pictures, "sweep": sweep_pictures,
        "explain": explain_pictures}


def warnings_of(document):
    found = list(document.get("warnings", []))
    for member in ("runs", "devices"):
        for run in document.get(member, []):
            found += run.get("warnings", [])
    return found


def section(picture, svg):
    data = base64.b64encode(svg).decode()
    alt = html.escape(f"{picture.title}. {picture.text}", quote=True)
    return (f"<h2>{html.escape(picture.title)}</h2>\n<p>{html.escape(picture.text)}</p>\n"
            f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">\n' + table_text(picture.table))


def table_text(table):
    if not table:
        return ""
    lines = [[html.escape(cell) for cell in row] for row in table]
    head = "".join(f"<th>{cell}</th>" for cell in lines[0])
    rest = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in lines[1:])
    return f"<table>\n<tr>{head}</tr>\n{rest}</table>\n"


# What reading a document raises that lacks a member, or has another kind of value there.
BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError)


def why_broken(error):
    return f"it lacks the member {error}" if isinstance(error, KeyError) else "a member has a value that it cannot have"


def draw(loaded):
    """Every picture of every kind."""
    for _, document, _ in loaded:
        html.escape(document["date"] + document["version"] + "".join(warnings_of(document)))
    return [picture for kind, drawn in DRAW.items() for picture in drawn([document for _, document, found in loaded if found == kind])]


def draw_or_name(loaded):
    """The same, but for a document that is broken."""
    try:
        return draw(loaded)
    except BROKEN:
        for one in loaded:
            try:
                draw([one])
            except BROKEN as error:
                raise results.BadFile(f"{one[0]}: this is no whole result file: {why_broken(error)}") from None
        raise results.BadFile("these result files do not go together") from None


def write_report(paths, folder):
    import style
    loaded = [(path, *results.load(path)) for path in paths]
    pictures = draw_or_name(loaded)  # before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    sections = ""
    for picture in pictures:
        svg = folder / f"{picture.name}.svg"
        style.save(picture.figure, svg, folder / f"{picture.name}.png")
        sections += section(picture, svg.read_bytes())
        print(svg)
    rows = "".join(f"<tr><td>{html.escape(pathlib.Path(path).name)}</td><td>{kind}</td><td>{html.escape(document['date'])}</td>"
                   f"<td>{html.escape(document['version'])}</td></tr>\n" for path, document, kind in loaded)
    warnings = "".join(f"<li>{html.escape(pathlib.Path(path).name)}: {html.escape(warning)}</li>\n"
                       for path, document, _ in loaded for warning in warnings_of(document))
    page = folder / "index.html"
    page.write_text(PAGE.format(files=rows, sections=sections, warnings=f"<h2>Warnings</h2>\n<ul>\n{warnings}</ul>\n" if warnings else ""))
    print(page)


def write_sweep(path, picture):
    import style
    import sweep_figures
    document, kind = results.load(path)
    if kind != "sweep":
        raise results.BadFile(f"{path}: this is no sweep")
    style.save(sweep_figures.sweep(document), picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--sweep", nargs=2, metavar=("RESULT", "FILE"))
    arguments = parser.parse_args()
    try:
        if arguments.sweep:
            write_sweep(*arguments.sweep)
        elif arguments.results and arguments.output:
            write_report(arguments.results, arguments.output)
        else:
            parser.error("give result files and -o FOLDER")
    except results.BadFile as error:
        sys.exit(f"duogemm: {error}")
    except OSError as error:
        sys.exit(f"duogemm: {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
