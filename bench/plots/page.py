"""The page: HTML that needs no network, follows the browser's dark or light, and reflows down to a telephone's width."""

import dataclasses
import html
import re

import style


@dataclasses.dataclass
class Section:
    """A heading with what stands below it. pictures: figures with what they show in words. tables: rows of cells with a caption."""
    name: str
    title: str
    text: str
    pictures: list
    tables: list = ()


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
