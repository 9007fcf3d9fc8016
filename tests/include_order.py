#!/usr/bin/env python3
"""Whether includes point one way: tests/include_order.py [ROOT]. Reads the include lines of every source and header.

A folder may include itself and those that stand before it in its row below. Nothing but opencl/ and cuda/, the laboratory and
tests includes a runtime's headers. Nothing but common/system/ and what is preloaded knows an operating system: neither its headers
nor its name.
"""

import pathlib
import re
import sys

ROWS = {
    "common": ["system", "problem", "device", "families", "plan", "runtime", "host_memory", "api"],
    "bench": ["support", "rungs", "check", "machine", "timing", "references", "ladder", "runner", "output", "explain", "replay", "tune",
              "page", "help", "cli"],
}
# What each top-level folder may include besides itself; public headers stand under common/include and belong to no row. Of
# kernels/ and compat/, the host reads the lists of arguments, and how elements are converted.
MAY = {
    "compat": [], "kernels": ["compat"], "common": ["kernels", "compat"], "opencl": ["common", "compat"], "cuda": ["common"],
    "cpu": ["common", "kernels", "compat"],
    "blas": ["common", "cuda"],
    "webgpu": ["common"], "bench": ["common", "opencl", "cuda", "cpu", "webgpu"], "python": ["common", "cuda"],
}
RUNTIME = re.compile(r"(CL/|cuda|cublas|nvrtc|nvml|clblast)")
# Headers of libraries, of the C language and of processors. Those of the C++ language have neither a dot nor a slash.
OTHERS = re.compile(r"(CL/|CLI/|boost/|nlohmann/|cuda|cublas|nvrtc|clblast|xxhash|zlib|zstd|Python\.h|xla/|"
                    r"std(int|def)\.h|immintrin|xmmintrin|arm_neon)")
KNOWS_SYSTEM = ("common/system/", "blas/cublas/library.cpp")
SYSTEM = re.compile(r"\s*#\s*(el)?if.*\b(_WIN32|__linux__|__unix__|__APPLE__|__MINGW\w+)\b")
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


def system_fault(root, source, line):
    """What a line has of an operating system; none if nothing, or if it may."""
    if str(source.relative_to(root)).startswith(KNOWS_SYSTEM):
        return None
    found = INCLUDE.match(line)
    header = found and found[1] == "<" and re.search("[./]", found[2]) and not OTHERS.match(found[2])
    return "an operating system is known to common/system/ alone" if header or SYSTEM.match(line) else None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    faults = 0
    for top in MAY:
        for source in sources(root, top):
            for number, line in enumerate(source.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                wrong = (fault(root, source, *found.groups()) if found else None) or system_fault(root, source, line)
                if wrong:
                    faults += 1
                    print(f"{source.relative_to(root)}:{number}: {line.strip()}: {wrong}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
