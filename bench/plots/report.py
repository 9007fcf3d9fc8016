#!/usr/bin/env python3
"""Makes pictures and one HTML page from result files; `duogemm report` and `duogemm sweep --plot` call it.

  report.py RESULT.json... -o FOLDER    FOLDER/index.html, which needs no network, and each picture as SVG and PNG beside it
  report.py --sweep RESULT.json FILE    one sweep as one picture
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # this may lie where nobody may write

import results  # noqa: E402


def warnings_of(document):
    found = list(document.get("warnings", []))
    found += [f"{row['input']}, K={row['k']}: {row['fault']}" for row in document.get("rows", []) if row.get("fault")]
    for member in ("runs", "devices"):
        for run in document.get(member, []):
            found += run.get("warnings", [])
    return found


# What reading a document raises that lacks a member, or has another kind of value there.
BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def why_broken(error):
    return f"it lacks the member {error}" if isinstance(error, KeyError) else "a member has a value that it cannot have"


def draw(loaded):
    """Every section of every kind, the ladder's answer first."""
    import ladder
    import studies
    of_kind = {kind: [document for _, document, found in loaded if found == kind] for kind in results.KINDS}
    for _, document, _ in loaded:
        "".join([document["date"], document["version"], *warnings_of(document)])
    ladders, sweeps, explained = of_kind["ladder"], of_kind["sweep"], of_kind["explain"]
    return [*ladder.climb_sections(ladders, explained), *studies.explain_sections(explained), *ladder.sections(ladders),
            *ladder.switch_sections(ladder.effects_between(ladders), "toggles_ladder"), *studies.compare_sections(of_kind["compare"]),
            *studies.replay_sections(of_kind["replay"]), *studies.accuracy_sections(of_kind["accuracy"]), *studies.sweep_sections(sweeps),
            *ladder.switch_sections(ladder.effects_in_sweeps(sweeps), "toggles_sweep")]


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
    import page
    loaded = [(path, *results.load(path)) for path in paths]
    sections = draw_or_name(loaded)  # before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    content = "".join(page.section(section, title, folder) for section, title in zip(sections, page.unique(section.title for section in sections)))
    files = [["file", "what", "date (UTC)", "program"]] + [[pathlib.Path(path).name, kind, document["date"], document["version"]]
                                                          for path, document, kind in loaded]
    warnings = [f"{pathlib.Path(path).name}: {warning}" for path, document, _ in loaded for warning in warnings_of(document)]
    content += "<h2>Files</h2>\n" + page.table(files) + page.folded(f"Warnings ({len(warnings)})", warnings)
    index = folder / "index.html"
    results.write(index, page.PAGE.replace("CONTENT", content).encode())
    print(index)


def write_sweep(path, picture):
    import studies
    import style
    document, kind = results.load(path)
    if kind != "sweep":
        raise results.BadFile(f"{path}: this is no sweep")
    style.save(studies.sweep(document)[0], picture)


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
