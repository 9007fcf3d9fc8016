#!/usr/bin/env python3
"""Checks what the program writes against bench/schema/results.json, and that a summary can be made of it.

  tests/schema/check.py <program>

Ends with 77 where python3-jsonschema is not installed, or where there is no device.
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: jsonschema for Python is not installed (package python3-jsonschema)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUMMARY = ROOT / "tools" / "summary.py"
SUMMARISED = ("ladder", "accuracy", "compare", "explain", "replay", "sweep")
SCHEMA = json.loads((ROOT / "bench" / "schema" / "results.json").read_text())
COMMANDS = {
    "ladder": ["ladder", "--kernels", "1,8,10", "-m", "33", "-n", "17", "-k", "9", "--seconds", "0.01"],
    "cold_ladder": ["ladder", "--kernels", "1", "--size", "32", "--seconds", "0.01", "--cold"],
    "accuracy": ["accuracy", "--inputs", "unit,cancelling,huge_and_tiny", "-k", "1,33", "--size", "16"],
    "compare": ["compare", "--shapes", "shapes.txt", "--seconds", "0.001"],
    "devices": ["devices"],
    "explain": ["explain", "--diff", "1:general", "--size", "32", "--seconds", "0.01"],
    "plan": ["plan", "-m", "100", "-n", "50", "-k", "2000", "--top", "3"],
    "latency": ["latency", "--size", "8"],
    "replay": ["replay", "trace.jsonl"],
    "tune": ["tune", "--budget", "4s", "--ops", "NN", "--held-out", "shapes.txt", "--out", "tuning.json"],
    "verify": ["verify", "--kernels", "1,8", "--size", "9"],
    "verify_gemm": ["verify", "--gemm", "--kernels", "finish", "--size", "9"],
    "sweep": ["sweep", "--kernel", "8", "--over", "WPTM=7:8", "--over", "USE_SHUFFLE=0:1", "--size", "32", "--seconds", "0.01"],
}


def errors(document):
    """Of the one definition that the document's schema names, so that messages speak of it alone."""
    kind = document["schema"].removeprefix("duogemm.").split("/")[0]
    schema = {"$schema": SCHEMA["$schema"], "$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}"
            for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def names_in(schema):
    """Every member that the schema knows."""
    if isinstance(schema, dict):
        for name, content in schema.items():
            if name == "properties":
                yield from content
            yield from names_in(content)
    elif isinstance(schema, list):
        for content in schema:
            yield from names_in(content)


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def check_strictness(document):
    """The schema must refuse what is not described."""
    for spoil in (lambda d: d.update(surprise=1), lambda d: d.pop("date"), lambda d: d.update(schema="duogemm.ladder/2"),
                  lambda d: d["runs"][0]["rows"][0]["time"].update(seconds=[]),
                  lambda d: d["runs"][0]["device"].update(compute_units="two")):
        spoiled = copy.deepcopy(document)
        spoil(spoiled)
        expect(errors(spoiled), "the schema accepts a document that was spoiled")


def check_documentation():
    words = (ROOT / "bench" / "schema" / "README.md").read_text()
    for name in sorted(set(names_in(SCHEMA))):
        expect(name in words, f"bench/schema/README.md does not speak of '{name}'")


def check_summary(file, date):
    """It has a row for each of the result file, with a speed, an error or a ratio."""
    done = subprocess.run([sys.executable, SUMMARY, "add", "--command", "duogemm of a test", file, file.parent], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    for summary in file.parent.glob(f"{file.stem}*.tsv"):
        head = [line for line in summary.read_text().splitlines() if line.startswith("# ")]
        columns, *rows = (line.split("\t") for line in summary.read_text().splitlines()[len(head):])
        expect("# command: duogemm of a test" in head and f"# date: {date}" in head, f"{summary.name} begins with {head}")
        expect(rows and all(len(row) == len(columns) and any(re.fullmatch(r"[0-9.e-]+", cell) for cell in row) for row in rows),
               f"{summary.name} has the columns {columns} and the rows {rows}")


def check_program(program):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "shapes.txt").write_text("cube 8 8 8\nhuge 16777216 16777216 16777216\n")
        pathlib.Path(folder, "trace.jsonl").write_text('{"schema":"duogemm.trace/1"}\n{"m":8,"n":8,"k":8,"times":3}\n{"m":8,"n":8,"k":8,"beta":"inf"}\n')
        for name, arguments in COMMANDS.items():
            file = pathlib.Path(folder, f"{name}.json")
            done = subprocess.run([program, *arguments, "--json", str(file)], cwd=folder, capture_output=True, text=True)
            if "no device" in done.stderr or "device was found" in done.stderr:
                print(f"skipped: no device was found: {done.stderr}")
                sys.exit(77)
            expect(done.returncode == 0, f"{' '.join(arguments)}: {done.stderr}{done.stdout}")
            document = json.loads(file.read_text())
            found = errors(document)
            expect(not found, f"{name}: {found[:5]}")
            print(f"{name}: as the schema says")
            if name == "ladder":
                check_strictness(document)
            if name in SUMMARISED:
                check_summary(file, document["date"][:10])


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    check_documentation()
    check_program(str(pathlib.Path(sys.argv[1]).resolve()))


if __name__ == "__main__":
    main()
