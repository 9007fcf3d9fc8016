#!/usr/bin/env python3
"""Runs the program's ladder through WebGPU on Mesa's lavapipe: check_program.py PROGRAM

wgpu-native is that of this Python's package wgpu, with whose headers webgpu/runtime/wgpu_api.h is compared. Where it, lavapipe or a
compiler is missing, the check ends with 77, which CTest takes as skipped.
"""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browsers import LAVAPIPE  # noqa: E402
from outcome import expect, skip  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = ROOT / "webgpu" / "runtime" / "wgpu_api.h"
COMPILER = shutil.which("c++")
# One slip in a kernel's file, and what `verify` must say of its rung.
DEFECTS = [("2", "02_tiled.cl", "k < TS;", "k < TS - 1;", "expected"),
           ("10", "10_incomplete.cl", "if (row + w < M", "if (row + w < M + 1", "overwritten")]

# Two functions are called alike where their parameters and results are: numbers and structs of the same size, or pointers to something.
ALIKE = """
template <typename A, typename B> constexpr bool same() {
  return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_class_v<A> == std::is_class_v<B> &&
         std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}
template <typename R, typename S> constexpr bool same_result() {
  if constexpr (std::is_void_v<R> || std::is_void_v<S>) { return std::is_void_v<R> && std::is_void_v<S>; } else { return same<R, S>(); }
}
template <typename R, typename... A, typename S, typename... B> constexpr bool alike(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B)) { return false; } else { return same_result<R, S>() && (same<A, B>() && ...); }
}
"""


def comparison(text):
    """C++ that compiles where all that the header declares is as in the package's own headers."""
    lines = []

    def claim(condition, what):
        lines.append(f'static_assert({condition}, "{what}");')

    for name, body in re.findall(r"^enum class (\w+) : std::uint32_t \{([^}]*)\}", text, re.MULTILINE):
        native = f"WGPU{name}"
        for member in re.findall(r"(\w+) =", body):
            claim(f"static_cast<unsigned>(api::{name}::{member}) == static_cast<unsigned>({native}_{member})", f"{name}::{member}")
    for body in re.findall(r"^enum \w+ : Flags \{([^}]*)\}", text, re.MULTILINE):
        for member in re.findall(r"(\w+) =", body):
            claim(f"api::{member} == WGPU{member}", member)
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        if name == "Functions":
            continue
        claim(f"sizeof(api::{name}) == sizeof(WGPU{name})", f"the size of {name}")
        for member in re.findall(r"(\w+);$", re.sub(r"struct \{.*?\}", "", body, flags=re.DOTALL), re.MULTILINE):
            claim(f"offsetof(api::{name}, {member}) == offsetof(WGPU{name}, {member})", f"{name}::{member}")
    for name in re.findall(r"^  X\([\w:* ]+, (\w+),", text, re.MULTILINE):
        claim(f"alike(decltype(api::Functions::{name}){{}}, decltype(&wgpu{name}){{}})", f"the function {name}")
    callbacks = re.findall(r"using (\w+Callback) =", text)
    for name in callbacks:
        claim(f"alike(api::{name}{{}}, WGPU{name}{{}})", name)
    claim("api::no_query == WGPU_QUERY_SET_INDEX_UNDEFINED", "no_query")
    return "\n".join(lines), len(lines)


def compiles(folder, resources, text):
    """Whether the header with this text is right, and what the compiler says if not."""
    (folder / "api.h").write_text(text)
    claims, count = comparison(text)
    source = folder / "comparison.cpp"
    source.write_text(f'#include <type_traits>\n#include "{resources}/wgpu.h"\n#include "{folder}/api.h"\n'
                      f"namespace api = duogemm::webgpu::api;\n{ALIKE}\n{claims}\n")
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", source], capture_output=True, text=True)
    return done.returncode == 0, count, done.stderr


def check_header(folder, resources):
    text = API.read_text()
    right, count, log = compiles(folder, resources, text)
    expect(right and count > 200, f"{API.relative_to(ROOT)} differs from the package's headers ({count} claims):\n{log}")
    for old, new in (("ReadOnlyStorage = 4", "ReadOnlyStorage = 5"), ("  Limit maxBindGroups;\n", ""),
                     ("DevicePoll, (Device, Bool, const std::uint64_t*)", "DevicePoll, (Device, Bool)")):
        expect(old in text, f"the header has no '{old}'")
        expect(not compiles(folder, resources, text.replace(old, new))[0], f"the comparison does not see '{new}' for '{old}'")
    print(f"{count} declarations are as in the package's headers")


class Lab:
    """The program in a folder of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        python = pathlib.Path(sys.executable).parent
        self.environment = {**os.environ, "VK_ICD_FILENAMES": str(LAVAPIPE), "VK_DRIVER_FILES": str(LAVAPIPE), "DUOGEMM_CACHE_DIR": "",
                            "PATH": f"{python}:{os.environ['PATH']}"}
        for name in ("DUOGEMM_WGPU", "DUOGEMM_KERNEL_DIR", "DUOGEMM_DEVICE"):
            self.environment.pop(name, None)

    def run(self, *arguments, status=0, **environment):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, env={**self.environment, **environment}, capture_output=True,
                              text=True)
        expect(done.returncode == status, f"{' '.join(arguments)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def refused(self, *arguments, named, **environment):
        done = self.run(*arguments, status=2, **environment)
        lines = [line for line in done.stderr.splitlines() if line.startswith("duogemm: ")]
        expect(len(lines) == 1 and all(part in lines[0] for part in named), f"{' '.join(arguments)} says: {done.stderr}")

    def result(self, *arguments, status=0, **environment):
        done = self.run(*arguments, "--json", "result.json", status=status, **environment)
        return json.loads((self.folder / "result.json").read_text()), done


def check_ladder(lab):
    result, done = lab.result("ladder", "--backend", "webgpu", "--size", "128", "--seconds", "0.001")
    run = result["runs"][0]
    expect(run["device"]["backend"] == "webgpu" and run["device"]["runtime"].startswith("WebGPU (Vulkan)"), f"its device: {run['device']}")
    left_out = {row["rung"]: row["unsupported"] for row in run["rows"] if "unsupported" in row}
    expect(list(left_out) == ["17"] and "compute capability 8.0" in left_out["17"], f"left out: {left_out}")
    rows = [row for row in run["rows"] if "unsupported" not in row]
    expect(len(rows) > 17 and all(row["ok"] and row["gflops"] > 0 for row in rows), f"wrong rows:\n{done.stdout}")
    print(f"ladder: {len(rows)} rows are right")


def check_verify(lab):
    rows = [row for row in lab.result("verify", "--backend", "webgpu")[0]["rows"] if "unsupported" not in row]
    expect(len(rows) > 17 and all(row["ok"] for row in rows), f"verify: {[row for row in rows if not row['ok']]}")
    kernels = lab.folder / "changed"
    for rung, name, text, slip, said in DEFECTS:
        for part in ("kernels", "compat"):
            shutil.copytree(ROOT / part, kernels / part, dirs_exist_ok=True)
        file = kernels / "kernels" / "ladder" / name
        expect(text in file.read_text(), f"{name} has no '{text}'")
        file.write_text(file.read_text().replace(text, slip))
        row = lab.result("verify", "--device", "webgpu0", "--kernels", rung, status=1, DUOGEMM_KERNEL_DIR=str(kernels))[0]["rows"][0]
        expect(not row["ok"] and re.search(said, row["fault"]), f"verify says of '{slip}' in {name}: {row}")
        print(f"verify: '{slip}' in {name}: {row['fault']}")


def check_others(lab):
    expect("webgpu0" in lab.run("devices", "--names").stdout.split(), "devices does not name webgpu0")
    lab.run("explain", "--kernel", "6", "--size", "64", "--seconds", "0.001", "--backend", "webgpu", "--dump", "texts")
    expect("@compute" in (lab.folder / "texts" / "webgpu_register_2d.wgsl").read_text(), "explain wrote no shader")
    sweep = lab.result("sweep", "--kernel", "2", "--over", "TS=8:16:x2", "--size", "40", "--seconds", "0.001", "--backend", "webgpu")[0]
    expect(all(point["row"]["ok"] for point in sweep["points"]), f"sweep: {sweep['points']}")
    for command in (["compare", "--size", "64"], ["tune"], ["verify", "--gemm"]):
        lab.refused(*command, "--backend", "webgpu", named=["--backend webgpu", "the ladder alone"])


def check_refusals(lab, folder):
    ladder = ("ladder", "--backend", "webgpu", "--size", "64")
    lab.refused(*ladder, named=["DUOGEMM_WGPU is missing.so"], DUOGEMM_WGPU="missing.so")
    lab.refused(*ladder, named=["mesa-vulkan-drivers"], VK_ICD_FILENAMES="none.json", VK_DRIVER_FILES="none.json")
    lab.refused("ladder", "--backend", "webgpu", "--size", "16384", named=["m=16384", "of device memory"])
    source = folder / "old.cpp"
    source.write_text('extern "C" unsigned wgpuGetVersion() { return 0x18000000; }\n')
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", folder / "old.so", source], check=True)
    lab.refused(*ladder, named=["wgpu-native 24.0.0.0", "version 29"], DUOGEMM_WGPU=str(folder / "old.so"))


def main():
    package = importlib.util.find_spec("wgpu")
    if not LAVAPIPE:
        skip("lavapipe is not installed (package mesa-vulkan-drivers)")
    if not package:
        skip(f"{sys.executable} has no package wgpu")
    if not COMPILER:
        skip("there is no c++")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_header(folder, pathlib.Path(package.submodule_search_locations[0]) / "resources")
        lab = Lab(pathlib.Path(sys.argv[1]).resolve(), folder)
        check_ladder(lab)
        check_verify(lab)
        check_others(lab)
        check_refusals(lab, folder)


if __name__ == "__main__":
    main()
