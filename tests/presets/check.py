#!/usr/bin/env python3
"""Checks that every way to configure can also be built and tested by its name, and that CMake says what it was told.

  tests/presets/check.py <the runtimes of this build>
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def names(presets, kind):
    return [preset["name"] for preset in presets[kind]]


def configure(preset, *options):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["cmake", "--preset", preset, "-B", folder, "-DDUOGEMM_BUILD_TESTS=OFF", *options], cwd=ROOT,
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"{preset}: {done.stderr}")
        return done.stdout


def main():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    for kind in ("buildPresets", "testPresets"):
        expect(names(presets, kind) == names(presets, "configurePresets"), f"{kind} are {names(presets, kind)}")
    for preset, switches in (("opencl-plain", "USE_LDG=OFF, USE_SHUFFLE=OFF"), ("opencl-shuffle", "USE_LDG=ON, USE_SHUFFLE=ON")):
        if "opencl" in sys.argv[1:]:
            expect(f": BACKEND=opencl, {switches}\n" in configure(preset), f"{preset} does not say its switches")


if __name__ == "__main__":
    main()
