"""What type checkers say of a user's program: nothing where it is right, and something of each line that is wrong."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent


def lines_of(words, file, folder):
    """The lines of the file in which a checker finds mistakes."""
    shutil.copy(FOLDER / file, folder)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    said = subprocess.run([sys.executable, "-m", *words, file], cwd=folder, capture_output=True, text=True).stdout
    if words[0] == "mypy":
        return {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    return {found["range"]["start"]["line"] + 1 for found in json.loads(said)["generalDiagnostics"] if found["severity"] == "error"}


@pytest.mark.parametrize("words", [("mypy", "--strict"), ("basedpyright", "--outputjson", "--pythonpath", sys.executable)], ids=["mypy", "pyright"])
def test_types(words, tmp_path):
    pytest.importorskip(words[0])
    assert lines_of(words, "user_types.py", tmp_path) == set()
    mistakes = (FOLDER / "user_mistakes.py").read_text().splitlines()
    assert lines_of(words, "user_mistakes.py", tmp_path) == {i for i, line in enumerate(mistakes, 1) if "duogemm." in line}
