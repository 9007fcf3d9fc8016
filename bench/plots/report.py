#!/usr/bin/env python3
"""Makes pictures and one HTML page from result files; `duogemm report` and `duogemm sweep --plot` call it.

  report.py RESULT.json... -o FOLDER    FOLDER/index.html, which needs no network, and each picture as SVG and PNG beside it
  report.py --sweep RESULT.json FILE    one sweep as one picture

The page follows the browser's dark or light, and reflows down to a telephone's width.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # this may lie where nobody may write

import ladder  # noqa: E402
import page  # noqa: E402
import results  # noqa: E402
import studies  # noqa: E402
import style  # noqa: E402


def pictures(section, folder):
    """A section's pictures as parts of the page; they are written beside it, too."""
    for number, (figure, words) in enumerate(section.pictures, 1):
        name = section.name if len(section.pictures) == 1 else f"{section.name}_{number}"
        svg = folder / f"{name}.svg"
        style.save(figure, svg, folder / f"{name}.png")
        yield page.inline(svg.read_text(), name, f"{section.title}, {section.about}. {words}")
        print(svg)


def number_again(sections):
    """Tells those apart whose headings say the same."""
    seen = {}
    for section in sections:
        heading = (section.title, section.about)
        seen[heading] = seen.get(heading, 0) + 1
        if seen[heading] > 1:
            section.about = f"{section.about} ({seen[heading]})".strip()


def warnings_of(document):
    found = list(document.get("warnings", []))
    found += [f"{row['input']}, K={row['k']}: {row['fault']}" for row in document.get("rows", []) if row.get("fault")]
    for member in ("runs", "devices"):
        for run in document.get(member, []):
            found += run.get("warnings", [])
    return found


def devices_of(document):
    """The devices that a document is about."""
    runs = [document, *document.get("runs", []), *document.get("devices", [])]
    return [run["device"]["name"].strip() for run in runs if "device" in run]


def facts(of_kind):
    """The numbers at the top: a ladder's if there is one, or else a comparison's."""
    for kind, facts_of in (("ladder", ladder.facts), ("compare", studies.facts)):
        for run in (run for document in of_kind[kind] for run in document["runs"]):
            return facts_of(run)
    return []


# What reading a document raises that lacks a member, or has another kind of value there.
BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def why_broken(error):
    return f"it lacks the member {error}" if isinstance(error, KeyError) else "a member has a value that it cannot have"


def draw(loaded):
    """The title, the numbers at the top, and every section of every kind, the climb first."""
    of_kind = {kind: [document for _, document, found in loaded if found == kind] for kind in results.KINDS}
    for _, document, _ in loaded:
        "".join([document["date"], document["version"], *warnings_of(document)])
    ladders, sweeps, explained = of_kind["ladder"], of_kind["sweep"], of_kind["explain"]
    devices = ", ".join(dict.fromkeys(name for _, document, _ in loaded for name in devices_of(document)))
    sections = [*ladder.climb_sections(ladders, explained), *ladder.sections(ladders), *studies.explain_sections(explained),
                *ladder.switch_sections(ladder.effects_between(ladders), "toggles_ladder"), *studies.compare_sections(of_kind["compare"]),
                *studies.replay_sections(of_kind["replay"]), *studies.accuracy_sections(of_kind["accuracy"]), *studies.sweep_sections(sweeps),
                *ladder.switch_sections(ladder.effects_in_sweeps(sweeps), "toggles_sweep")]
    return f"duogemm on {devices}" if devices else "duogemm", facts(of_kind), sections


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
    loaded = [(path, *results.load(path)) for path in paths]
    title, numbers, sections = draw_or_name(loaded)  # before anything is written
    number_again(sections)
    folder.mkdir(parents=True, exist_ok=True)
    files = [["file", "what", "date (UTC)", "program"]] + [[pathlib.Path(path).name, kind, document["date"], document["version"]]
                                                          for path, document, kind in loaded]
    content = page.render(
        title=title, facts=numbers,
        sections=[{**vars(section), "pictures": list(pictures(section, folder)), "tables": tables(section)} for section in sections],
        files=page.table(files),
        warnings=[f"{pathlib.Path(path).name}: {warning}" for path, document, _ in loaded for warning in warnings_of(document)])
    index = folder / "index.html"
    results.write(index, content.encode())
    print(index)


def tables(section):
    return [page.table(rows, caption) for rows, caption in section.tables if len(rows) > 1]


def write_sweep(path, picture):
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
