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


class Section:
    """A heading with what stands below it. pictures: figures with what they show in words. tables: rows of cells with a caption."""

    def __init__(self, name, title, text="", pictures=(), tables=(), table_first=False):
        self.name, self.title, self.text, self.pictures, self.tables, self.table_first = name, title, text, pictures, tables, table_first


def groups_of(documents):
    """The runs of a ladder's file on one device and problem, with that file."""
    groups = {}
    for document in documents:
        for run in document["runs"]:
            groups.setdefault((run["device"]["name"].strip(), run["m"], run["n"], run["k"], id(document)), (document, []))[1].append(run)
    return groups.values()


def place_of(runs):
    """Device, runtimes and problem, for a heading."""
    names = " and ".join(dict.fromkeys(results.runtime_name(run["device"]) for run in runs))
    return f"{runs[0]['device']['name'].strip()}, {names}, {results.size_caption(runs[0])}"


def variant_of(document, runs):
    """What was switched, for a heading."""
    parts = [results.switches([row for run in runs for row in run["rows"]])]
    parts += ["cold operands"] if document.get("operands") == "cold" else []
    parts += [f"cache preference {document['cache_preference']}"] if document["cache_preference"] != "none" else []
    parts += [f"banks of {document['bank_bytes']} bytes"] if document["bank_bytes"] else []
    return "".join(f", {part}" for part in parts if part)


def climb_sections(documents, explanations):
    import ladder_figures
    import ladder_table
    sections = []
    for number, (document, runs) in enumerate(groups_of(documents), 1):
        tables = [(ladder_table.table(run, explanations), f"{ladder_table.answer(run)} Measured through {results.runtime_caption(run)}.") for run in runs]
        text = ("Time includes padding and transposing. What binds a kernel is a bound that it reaches to two thirds or more; what reaches none "
                "waits, for memory, at barriers or for instructions before. Bounds come from a result file of `duogemm explain`, given to the report "
                "as well. `duogemm explain --diff 6:7` compares two rungs.")
        sections.append(Section(f"ladder_{number}", f"The climb: {place_of(runs)}{variant_of(document, runs)}", text,
                                [ladder_figures.climb(runs)], tables, table_first=True))
    return sections


def ladder_sections(documents):
    import ladder_figures
    import toggle_figures
    sections = []
    for number, (document, runs) in enumerate(groups_of(documents), 1):
        where = f"{place_of(runs)}{variant_of(document, runs)}"
        rooflines = [ladder_figures.roofline(run) for run in runs if ladder_figures.can_draw_roofline(run)]
        if rooflines:
            sections.append(Section(f"roofline_{number}", f"Roofline: {where}", "Rungs by their numbers. A point under a roof is held down by "
                                    "something else: see `duogemm explain`.", rooflines))
        by_backend = {run["device"]["backend"]: run for run in runs}
        if {"cuda", "opencl"} <= set(by_backend):
            sections.append(Section(f"runtimes_{number}", f"OpenCL against CUDA: {where}", "Samples of one turn are paired; whiskers are quartiles.",
                                    [ladder_figures.against(by_backend["cuda"], by_backend["opencl"])]))
    return sections + toggle_sections(toggle_figures.effects_between(documents), "toggles_ladder")


def toggle_sections(effects, name):
    import toggle_figures
    sections = []
    places = list(dict.fromkeys((effect["device"], effect["size"]) for effect in effects))
    for number, (device, size) in enumerate(places, 1):
        chosen = [effect for effect in effects if (effect["device"], effect["size"]) == (device, size)]
        how = " and ".join(dict.fromkeys(effect["how"] for effect in chosen))
        sections.append(Section(f"{name}_{number}", f"What switches change: {device.strip()}, M=N=K={size}, {how}", "By how many percent a kernel "
                                "is faster with a switch on. Paired samples: those taken in turns, or in the same order in separate runs.",
                                [toggle_figures.toggles(chosen)]))
    return sections


def compare_sections(documents):
    import compare_figures
    sections = []
    for number, document in enumerate(documents, 1):
        for run in (run for run in document["runs"] if run["rows"]):
            how = [*how_called(document), f"{document['operands']} operands", *(["in a graph"] if document["graph"] else []),
                   *([document["level"]] if document.get("level") else []),
                   *([f"list {names[0]}"] if len(names := compare_figures.lists(run)) == 1 else [])]
            sections.append(Section(f"compare_{number}_{run['device']['backend']}", f"duogemm beside {others_of(run)}: "
                                    f"{run['device']['name'].strip()}, {results.runtime_name(run['device'])}, {', '.join(how)}",
                                    "Each shape of each list, for every contender.",
                                    [compare_figures.speeds(run, wanted) for wanted in compare_figures.lists(run)],
                                    [(summary_table(run), "The other's time over duogemm's: above 1, duogemm is faster.")], table_first=True))
    return sections


def how_called(document):
    """What a comparison permits or asks for beyond the usual: another precision, plain arrays, several threads, little memory."""
    precision, through = document.get("precision", "fp32"), document.get("through", "device")
    return [*([f"by {precision}"] if precision != "fp32" else []), *([f"through {through}"] if through != "device" else []),
            *([f"{document['callers']} threads at once"] if document.get("callers", 1) > 1 else []),
            *([f"{document['device_memory']} bytes of device memory"] if document.get("device_memory") else [])]


def others_of(run):
    return " and ".join(other["title"] for other in run["others"]) or "nothing else"


def summary_table(run):
    return [["list", "beside", "shapes", "geometric mean", "worst", "at"]] + [
        [row["list"] or "all", row["title"], str(row["shapes"]), f"{row['geometric_mean']:.2f}", f"{row['worst']:.2f}", row["worst_label"]]
        for row in run["summary"] if row["shapes"]]


def sweep_sections(documents):
    import sweep_figures
    import toggle_figures
    sections = [Section(f"sweep_{i}", f"Sweep: {sweep_figures.title_of(document)}, {document['device']['name'].strip()}, "
                        f"{results.runtime_name(document['device'])}", "", [sweep_figures.sweep(document)]) for i, document in enumerate(documents, 1)]
    effects = [effect for document in documents for effect in toggle_figures.effects_in_sweep(document)]
    return sections + toggle_sections(effects, "toggles_sweep")


def explain_sections(documents):
    import explain_figures
    sections = []
    for number, document in enumerate(documents, 1):
        groups = explain_figures.explained(document)
        timed = list(filter(None, map(explain_figures.bounded, groups.values())))
        where = f"{', '.join(dict.fromkeys(entry['device']['name'].strip() for entry in document['devices'])) or 'compiled only'}, " \
                f"{results.size_caption(document)}"
        if timed:
            sections.append(Section(f"bounds_{number}", f"Speed and bounds: {where}", "What was measured, and the lowest bound with what sets it.",
                                    [explain_figures.bounds(kernels, document) for kernels in timed]))
        stepped = list(filter(None, map(explain_figures.in_steps, groups.values())))
        if stepped:
            sections.append(Section(f"steps_{number}", f"Steps: {where}", "What a plan takes longer with each step than without it and all behind it.",
                                    [explain_figures.steps(kernels) for kernels in stepped]))
        if groups:
            sections.append(Section(f"mix_{number}", f"What main loops consist of: {where}", "From the compiled kernels.",
                                    [explain_figures.mix(kernels) for kernels in groups.values()]))
    return sections


def replay_sections(documents):
    import replay_figures
    return [Section(f"replay_{number}", f"Programs from their first call on: {document['device']['name'].strip()}, "
                    f"{results.runtime_name(document['device'])}", "Wall time of all calls of each trace: a first pass with nothing on disk, a first "
                    "pass of a new process with programs on disk, and a pass again in the same process. A context of the runtime is there before.",
                    [replay_figures.replay(trace, document) for trace in document["traces"]], [(replay_figures.table(document), "")])
            for number, document in enumerate(documents, 1)]


def accuracy_sections(documents):
    import accuracy_figures
    return [Section(f"accuracy_{number}", f"Accuracy: {document['device']['name'].strip()}, {results.runtime_name(document['device'])}, "
                    f"M=N={document['m']}", "The error of a result in units of 2^-24 times what it is a sum of, |A||B|: the largest over all results that "
                    "were computed anew. Half a unit is the rounding of a result that is right; the bound is 2 sqrt(K) + 4.",
                    [accuracy_figures.picture(document, wanted) for wanted in accuracy_figures.inputs(document)],
                    [(accuracy_figures.table(document), "The largest error over all K.")], table_first=True)
            for number, document in enumerate(documents, 1) if document["rows"]]


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
    import ladder_table
    of_kind = {kind: [document for _, document, found in loaded if found == kind] for kind in results.KINDS}
    for _, document, _ in loaded:
        "".join([document["date"], document["version"], *warnings_of(document)])
    return (climb_sections(of_kind["ladder"], ladder_table.Explanations(of_kind["explain"])) + explain_sections(of_kind["explain"])
            + ladder_sections(of_kind["ladder"]) + compare_sections(of_kind["compare"]) + replay_sections(of_kind["replay"])
            + accuracy_sections(of_kind["accuracy"]) + sweep_sections(of_kind["sweep"]))


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


def unique(titles):
    """The same, with a number behind those that came before."""
    seen = {}
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        yield f"{title} ({seen[title]})" if seen[title] > 1 else title


def section_text(section, title, folder):
    """A section's HTML; its pictures are written beside the page."""
    import page
    import style
    drawn = []
    for number, (figure, words) in enumerate(section.pictures, 1):
        name = section.name if len(section.pictures) == 1 else f"{section.name}_{number}"
        svg = folder / f"{name}.svg"
        style.save(figure, svg, folder / f"{name}.png")
        drawn.append(page.inline(svg.read_text(), name, f"{title}. {words}"))
        print(svg)
    tables = "".join(page.table(rows, caption, numbers_in(rows)) for rows, caption in section.tables if len(rows) > 1)
    return page.section(title, section.text, tables if section.table_first else "", drawn, "" if section.table_first else tables)


def numbers_in(rows):
    """The columns that hold nothing but numbers."""
    def is_number(cell):
        return cell.replace(",", "").replace(".", "").isdigit()
    return {place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])
            and all(is_number(row[place]) for row in rows[1:] if row[place])}


def write_report(paths, folder):
    import page
    loaded = [(path, *results.load(path)) for path in paths]
    sections = draw_or_name(loaded)  # before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    content = "".join(section_text(section, title, folder) for section, title in zip(sections, unique(section.title for section in sections)))
    files = [["file", "what", "date (UTC)", "program"]] + [[pathlib.Path(path).name, kind, document["date"], document["version"]]
                                                          for path, document, kind in loaded]
    warnings = [f"{pathlib.Path(path).name}: {warning}" for path, document, _ in loaded for warning in warnings_of(document)]
    content += page.section("Files", before=page.table(files)) + page.folded(f"Warnings ({len(warnings)})", warnings)
    index = folder / "index.html"
    results.write(index, page.page(content).encode())
    print(index)


def write_sweep(path, picture):
    import style
    import sweep_figures
    document, kind = results.load(path)
    if kind != "sweep":
        raise results.BadFile(f"{path}: this is no sweep")
    style.save(sweep_figures.sweep(document)[0], picture)


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
