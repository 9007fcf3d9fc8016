#!/usr/bin/env python3
"""Whether includes point one way: tests/include_order.py [ROOT]. Reads the include lines of every source and header.

A folder may include itself and those that stand before it in its row below. Nothing but opencl/ and cuda/, the laboratory and
tests includes a runtime's headers.
"""

import pathlib
import re
import sys

ROWS = {
    "common": ["system", "problem", "device", "families", "plan", "runtime", "host_memory", "api"],
    "bench": ["support", "machine", "rungs", "check", "timing", "references", "ladder", "runner", "output", "explain", "replay", "tune",
              "page", "help", "cli"],
}
# What each top-level folder may include besides itself; public headers stand under common/include and belong to no row. Of
# kernels/ and compat/, the host reads the lists of arguments.
MAY = {
    "compat": [], "kernels": ["compat"], "common": ["kernels", "compat"], "opencl": ["common", "compat"], "cuda": ["common"],
    "cpu": ["common", "kernels", "compat"],
    "blas": ["common", "cuda"],
    "webgpu": ["common"], "bench": ["common", "opencl", "cuda", "cpu", "webgpu"], "python": ["common", "cuda"],
}
RUNTIME = re.compile(r"(CL/|cuda|cublas|nvrtc|nvml|clblast)")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(root, top):
    return [path for path in sorted((root / top).rglob("*")) if path.suffix in (".cpp", ".h", ".hpp", ".cl")]


def find(root, source, name):
    """The file of ours that an include line means; none for others'."""
    tops = [root / top for top in MAY]
    for folder in [source.parent, *tops, *(top / "include" for top in tops)]:
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def fault(root, source, bracket, name):
    """What is wrong with one include line; none if nothing is."""
    top = source.relative_to(root).parts[0]
    target = find(root, source, name) if bracket == '"' else None
    if target is None:
        foreign = top in ("common", "kernels") and RUNTIME.match(name)
        return f"{top}/ knows no runtime" if foreign else None
    other, *rest = target.relative_to(root).parts
    if other != top:
        return None if other in MAY[top] else f"{top}/ includes nothing of {other}/"
    row = ROWS.get(top, [])
    here, there = source.relative_to(root).parts[1], rest[0]
    if here == there or there == "include" or not row:
        return None
    if here not in row or there not in row:
        return f"{here if here not in row else there}/ stands in no row of tests/include_order.py"
    return None if row.index(there) < row.index(here) else f"{top}/{there} stands after {top}/{here}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    faults = 0
    for top in MAY:
        for source in sources(root, top):
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                wrong = fault(root, source, *found.groups()) if found else None
                if wrong:
                    faults += 1
                    print(f"{source.relative_to(root)}:{number}: {found[2]}: {wrong}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
