#!/usr/bin/env python3
"""Looks at the outputs that are stored in examples/notebook.ipynb, runs it from its first cell to its last, and looks at what it prints.

  tests/notebook/check.py <program>
  tests/notebook/check.py --store <program>   stores the outputs in the notebook

Ends with 77 where what runs notebooks, or an OpenCL device, is missing.
"""

import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests" / "support"))
sys.dont_write_bytecode = True

from outcome import expect, skip  # noqa: E402

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
RUNGS = sorted(file.stem.split("_", 1) for file in (ROOT / "kernels" / "ladder").glob("**/[0-9]*.cl"))
SMALL, SMALL_NORM = 1e-3, 1e-5  # of sums of at most 2048 products below 1


def require_tools():
    try:
        import ipykernel  # noqa: F401
        import matplotlib  # noqa: F401
        import nbclient  # noqa: F401
        import numpy  # noqa: F401
        import pyopencl
    except ImportError as error:
        skip(f"{error.name} for Python is not installed (packages python3-nbclient, python3-ipykernel, python3-matplotlib, "
             "python3-numpy and python3-pyopencl)")
    try:
        devices = [device for platform in pyopencl.get_platforms() for device in platform.get_devices()]
    except pyopencl.Error as error:
        skip(f"PyOpenCL finds no device: {error}")
    if not devices:
        skip("PyOpenCL finds no device")


def run(program, folder):
    """The notebook with its outputs."""
    import nbclient
    import nbformat
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    os.environ.update({"DUOGEMM_PROGRAM": str(program), "IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder, "XDG_CACHE_HOME": folder,
                       "PYOPENCL_NO_CACHE": "1"})
    try:
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    except nbclient.exceptions.CellExecutionError as error:
        sys.exit(f"FAILED: a cell of {NOTEBOOK.name}: {error}")
    return notebook


def check_outputs(notebook):
    """Every cell has run and none failed, there is a picture, and what is printed is right. Matplotlib and drivers may warn."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    expect([cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), "not every cell has run, or not in order")
    outputs = [output for cell in cells for output in cell["outputs"]]
    expect(all(output["output_type"] != "error" for output in outputs), f"errors: {outputs}")
    expect(any("image/png" in output.get("data", {}) for output in outputs), "there is no picture")
    text = "".join("".join(output.get("text", "")) for output in outputs if output.get("name") != "stderr")
    check_printed(text)
    return text


def check_no_warnings(notebook):
    """A reader of the stored notebook sees none."""
    warnings = [output["text"] for cell in notebook["cells"] for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    expect(not warnings, f"warnings: {warnings}")


def check_printed(text):
    for title in ("naive", "NVIDIA's sample", "register blocking"):
        found = re.search(rf"{title}: ([\d.]+) GFLOP/s, .*largest error ([\d.e+-]+), norm of the error ([\d.e+-]+)", text)
        expect(found, f"it prints nothing of {title}:\n{text}")
        expect(float(found[1]) > 0 and float(found[2]) < SMALL and float(found[3]) < SMALL_NORM, f"{title} is wrong: {found[0]}")
    package = re.search(r"the Python package: largest error ([\d.e+-]+)", text)
    absent = re.search(r"the Python package is not run: (.+)", text)
    expect(absent or (package and float(package[1]) < SMALL), f"the Python package is wrong:\n{text}")
    expect(not absent or importlib.util.find_spec("duogemm") is None, f"the Python package is installed, and not run: {absent and absent[1]}")
    expect("the same bits: True" in text, f"the kernels' bits differ:\n{text}")
    for number, kernel in [*RUNGS, ("nv", "matrixmul"), ("duogemm", "")]:
        expect(re.search(rf"^{number.lstrip('0')} {kernel}.*: (.* GFLOP/s, .*, right|needs .*)$", text, flags=re.MULTILINE),
               f"the program tells nothing right of {kernel}:\n{text}")


def main():
    program = pathlib.Path(sys.argv[-1]).resolve()
    store = sys.argv[1] == "--store"
    if not store:
        stored = json.loads(NOTEBOOK.read_text())
        check_outputs(stored)
        check_no_warnings(stored)
    require_tools()
    with tempfile.TemporaryDirectory() as folder:
        notebook = run(program, folder)
    print(check_outputs(notebook))
    if store:
        import nbformat
        check_no_warnings(notebook)
        for cell in notebook.cells:
            cell.metadata = {}  # times of the execution
        nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
