"""The lines of kernels that the walk up the ladder shows, taken from the files: tools/summary.py writes and checks them."""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
WALK = ROOT / "kernels" / "ladder" / "README.md"

# By the title that a fence has in the walk, of which the first word is the file: how the first line begins, and the last. The excerpt goes on
# until what is opened in it is closed.
EXCERPTS = {
    "01_naive.cl": ("float acc", "UPDATE"),
    "02_tiled.cl": ("Asub[col][row] =", "acc = fma"),
    "03_strip.cl": ("const float a =", "acc[w] = fma"),
    "04_wide.cl": ("for (int k = 0; k < TS; k += WIDTH)", "acc = fma"),
    "05_transposed.cl": ("for (int l = 0; l < LPTB", "Bsub"),
    "06_register_2d.cl": ("float b[WPTN]", "acc[wn][wm] = fma"),
    "wide_tile.h": ("for (int wm = 0; wm < WPTMX", "read_b"),
    "wide_tile.h (USE_SHUFFLE)": ("const int first_lane", "b[wn] = SHUFFLE"),
    "09_double_buffer.cl": ("if (more)", "barrier"),
    "10_incomplete.cl": ("if (row + w < M", "UPDATE"),
    "beyond/11_registers_only.cl": ("const float8 a =", "acc[3] = fma"),
    "beyond/warp_tile.h": ("#define FIRST_ROW", "#define FIRST_COL"),
    "beyond/stages.h": ("if (tile >= begin)", "COPY_COMMIT"),
    "beyond/14_tile_order.cl": ("const int in_a_group", "const int offset_n"),
    "beyond/15_split_k.cl": ("const int slice =", "const int end"),
    "beyond/16_packed.cl": ("for (int k = 0; k < TSK", "(floatX)(b_panel"),
    "beyond/17_tensor_cores.cl": ("for (int i = 0; i < PIECES", "odd -="),
    "beyond/17_tensor_cores.cl (products)": ("for (int small", "MULTIPLY_BLOCK"),
}


def excerpt(title):
    """The lines without hints to unroll, moved to the left."""
    first, last = EXCERPTS[title]
    file = WALK.parent / title.split()[0]
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#pragma unroll")]
    chosen, open_braces, found_last = [], 0, False
    for line in lines:
        if chosen or line.strip().startswith(first):
            chosen.append(line)
            open_braces += line.count("{") - line.count("}")
            found_last = found_last or line.strip().startswith(last)
            if found_last and open_braces <= 0:
                return textwrap.dedent("\n".join(chosen)) + "\n"
    sys.exit(f"tools/excerpts.py: {file.relative_to(ROOT)} has no lines from {first!r} to {last!r}")


def walk():
    """The walk with every excerpt as it is in the kernel's file."""
    titles = []

    def fence(match):
        titles.append(match[1])
        if match[1] not in EXCERPTS:
            sys.exit(f"tools/excerpts.py: {WALK.relative_to(ROOT)} shows {match[1]!r}, and no rule says which lines")
        return f'```c title="{match[1]}"\n{excerpt(match[1])}```\n'
    text = re.sub(r'^```c title="([^"]*)"\n.*?^```\n', fence, WALK.read_text(), flags=re.DOTALL | re.MULTILINE)
    missing = [title for title in EXCERPTS if titles.count(title) != 1]
    if missing:
        sys.exit(f"tools/excerpts.py: {WALK.relative_to(ROOT)} shows these not once: {', '.join(missing)}")
    return text
