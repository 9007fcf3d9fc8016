"""The page of a report: page.html.j2 filled in, with each picture as a part of it."""

import html
import pathlib
import re

import jinja2
import markupsafe
import style

# What the figures' colours are called on the page, and how they are there in light and in dark.
COLORS = {"#ffffff": ("paper", "#ffffff", "#16191d"), "#000000": ("ink", "#1b1b1b", "#e8e6e3"), "#b0b0b0": ("line", "#d0d4d8", "#3d434a"),
          "#808080": ("line", "#d0d4d8", "#3d434a")}
DARK_SHADES = ("#6ea8dc", "#2f5f8f", "#f0924f", "#8a4a1c", "#b5b5b5", "#4a4a4a", "#8fc46a", "#4e7038")
COLORS.update({shade: (f"shade{index}", shade, dark) for index, ((shade, *_), dark) in enumerate(zip(style.STYLES, DARK_SHADES))})

# A picture that is wider than a telephone's screen keeps its letters' size and scrolls in its box.
POINTS_OF_A_TELEPHONE = 350

NUMBER = re.compile(r"[0-9.,]*[0-9][0-9.,]*%?")


def variables(index):
    return " ".join(f"--{name}: {values[index]};" for name, *values in dict.fromkeys(COLORS.values()))


def inline(svg, name, alt):
    """A standalone SVG as a part of the page: colours by the page's variables, and identifiers that no other picture has."""
    for color, (variable, *_) in COLORS.items():
        svg = svg.replace(color, f"var(--{variable})")
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    box, width, body = re.search(r'<svg [^>]*?(viewBox="0 0 ([\d.]+) [\d.]+")[^>]*>(.*)', svg, flags=re.DOTALL).groups()
    least = f' style="min-width: {1.15 * float(width):.0f}px"' if float(width) > POINTS_OF_A_TELEPHONE else ""
    return markupsafe.Markup(f'<svg {box}{least} role="img" aria-label="{html.escape(alt, quote=True)}">{body}')


def table(rows, caption=""):
    """rows: cells, the first row's are heads. Columns that hold nothing but numbers stand to the right."""
    heads, *rows = rows
    columns = [[cell for cell in column if cell] for column in zip(*rows)]
    looks = [markupsafe.Markup(' class="number"' * bool(cells and all(map(NUMBER.fullmatch, cells)))) for cells in columns]
    return {"caption": caption, "heads": heads, "rows": rows, "looks": looks}


def code(text):
    """Words between backticks are code."""
    return markupsafe.Markup(re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text)))


def render(**content):
    folder = pathlib.Path(__file__).parent
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    environment.filters["code"] = code
    return environment.get_template("page.html.j2").render(light=variables(0), dark=variables(1), **content)
