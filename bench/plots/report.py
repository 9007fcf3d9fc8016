#!/usr/bin/env python3
"""Makes pictures and one HTML page from result files; `duogemm report` and `duogemm sweep --plot` call it.

  report.py RESULT.json... -o FOLDER    FOLDER/index.html, which needs no network, and each picture as SVG and PNG beside it
  report.py --sweep RESULT.json FILE    one sweep as one picture

The page follows the browser's dark or light, and reflows down to a telephone's width.
"""

import argparse
import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # this may lie where nobody may write

import ladder  # noqa: E402
import results  # noqa: E402
import studies  # noqa: E402
import style  # noqa: E402

# What the figures' colours are called on the page, and how they are there in light and in dark.
COLORS = {"#ffffff": ("paper", "#ffffff", "#16191d"), "#000000": ("ink", "#1b1b1b", "#e8e6e3"), "#b0b0b0": ("line", "#b0b0b0", "#4a4f55"),
          "#808080": ("line", "#b0b0b0", "#4a4f55")}
DARK_SHADES = ("#6ea8dc", "#2f5f8f", "#f0924f", "#8a4a1c", "#b5b5b5", "#4a4a4a", "#8fc46a")
COLORS.update({shade: (f"shade{index}", shade, dark) for index, ((shade, *_), dark) in enumerate(zip(style.STYLES, DARK_SHADES))})


def variables(index):
    return " ".join(f"--{name}: {values[index]};" for name, *values in dict.fromkeys(COLORS.values()))


PAGE = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>duogemm report</title>
<style>
:root {{ color-scheme: light dark; {variables(0)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {variables(1)} }} }}
body {{ font: 16px/1.5 sans-serif; max-width: 72em; margin: 1em auto; padding: 0 0.75em; background: var(--paper); color: var(--ink);
  overflow-wrap: break-word; }}
h1, h2 {{ line-height: 1.2; }}
.wide {{ overflow-x: auto; margin: 1em 0; }}
table {{ border-collapse: separate; border-spacing: 0; font-size: 14px; line-height: 21px; }}  /* whole pixels: a sticky cell would hide a line between two */
table {{ border: 1px solid var(--line); border-width: 1px 0 0 1px; }}
td, th {{ border: 1px solid var(--line); border-width: 0 1px 1px 0; padding: 3px 7px; text-align: left; vertical-align: top; overflow-wrap: normal;
  min-width: 10em; }}
td.number, th.number {{ text-align: right; min-width: 0; }}
td:first-child, th:first-child {{ min-width: 6.5em; position: sticky; left: 0; background: var(--paper); }}
@media (max-width: 40em) {{ td:nth-child(-n+4), th:nth-child(-n+4) {{ min-width: 5.3em; padding: 3px 5px; }} }}  /* which a telephone shows at once */
.pictures {{ display: flex; flex-wrap: wrap; gap: 1em; align-items: flex-start; }}
.pictures > div {{ flex: 1 1 24em; min-width: 0; max-width: 36em; overflow-x: auto; }}
svg {{ display: block; width: 100%; height: auto; fill: currentColor; }}
summary {{ cursor: pointer; font-size: 1.2em; margin: 1em 0; }}
details li {{ overflow-wrap: anywhere; margin-bottom: 0.4em; }}
</style>
</head>
<body>
<h1>duogemm report</h1>
CONTENT</body>
</html>
"""

# A picture that is wider than a telephone's screen keeps its letters' size and scrolls in its box.
POINTS_OF_A_TELEPHONE = 350


def inline(svg, name, alt):
    """A standalone SVG as a part of the page: colours by the page's variables, and identifiers that no other picture has."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for color, (variable, *_) in COLORS.items():
        svg = svg.replace(color, f"var(--{variable})")
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    width, _, body = re.match(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*)', svg, flags=re.DOTALL).groups()
    box = re.search(r'viewBox="[^"]*"', svg)[0]
    least = f' style="min-width: {1.15 * float(width):.0f}px"' if float(width) > POINTS_OF_A_TELEPHONE else ""
    return f'<svg {box}{least} role="img" aria-label="{html.escape(alt, quote=True)}">{body}'


def table(rows, caption=""):
    """rows: cells, the first row's are heads. Columns that hold nothing but numbers stand to the right."""
    columns = [[cell for cell in column[1:] if cell] for column in zip(*rows)]
    number = [' class="number"' * bool(cells and all(re.fullmatch("[0-9.,]*[0-9][0-9.,]*", cell) for cell in cells)) for cells in columns]
    lines = ["".join(f"<{kind}{look}>{html.escape(cell)}</{kind}>" for look, cell in zip(number, row))
             for kind, row in zip(["th"] + ["td"] * len(rows), rows)]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'{paragraph(caption)}<div class="wide" tabindex="0"><table>\n{body}</table></div>\n'


def paragraph(text):
    """Words between backticks are code."""
    return "<p>" + re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text)) + "</p>\n" if text else ""


def section(section, title, folder):
    """A section's HTML; its pictures are written beside the page."""
    drawn = ""
    for number, (figure, words) in enumerate(section.pictures, 1):
        name = section.name if len(section.pictures) == 1 else f"{section.name}_{number}"
        svg = folder / f"{name}.svg"
        style.save(figure, svg, folder / f"{name}.png")
        drawn += f"<div>{inline(svg.read_text(), name, f'{title}. {words}')}</div>\n"
        print(svg)
    tables = "".join(table(rows, caption) for rows, caption in section.tables if len(rows) > 1)
    return f'<h2>{html.escape(title)}</h2>\n{tables}{paragraph(section.text)}<div class="pictures">\n{drawn}</div>\n'


def unique(titles):
    """The same, with a number after those that came before."""
    seen = {}
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        yield f"{title} ({seen[title]})" if seen[title] > 1 else title


def folded(title, items):
    lines = "".join(f"<li>{html.escape(item)}</li>\n" for item in items)
    return f"<details>\n<summary>{html.escape(title)}</summary>\n<ul>\n{lines}</ul>\n</details>\n" if lines else ""


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
    loaded = [(path, *results.load(path)) for path in paths]
    sections = draw_or_name(loaded)  # before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    content = "".join(section(each, title, folder) for each, title in zip(sections, unique(each.title for each in sections)))
    files = [["file", "what", "date (UTC)", "program"]] + [[pathlib.Path(path).name, kind, document["date"], document["version"]]
                                                          for path, document, kind in loaded]
    warnings = [f"{pathlib.Path(path).name}: {warning}" for path, document, _ in loaded for warning in warnings_of(document)]
    content += "<h2>Files</h2>\n" + table(files) + folded(f"Warnings ({len(warnings)})", warnings)
    index = folder / "index.html"
    results.write(index, PAGE.replace("CONTENT", content).encode())
    print(index)


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
