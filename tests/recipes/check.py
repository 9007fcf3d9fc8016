#!/usr/bin/env python3
"""The recipes of packaging/ for vcpkg, Conan and Spack, as far as one can without their registries: tests/recipes/check.py FOLDER

The options that each gives to CMake are known to the build, and versions are those of version.h. Conan comes from PyPI, and what it needs
is taken for the system's. FOLDER is made anew.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r'DUOGEMM_VERSION "(.+)"', (ROOT / "common/include/duogemm/version.h").read_text())[1]
PLATFORM = ["boost/1.80", "nlohmann_json/3.11", "xxhash/0.8", "opencl-headers/2023", "opencl-clhpp-headers/2023", "opencl-icd-loader/2023",
            "zstd/1.5"]

# What vcpkg defines for a port.
VCPKG = """
cmake_minimum_required(VERSION 3.22)
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 it "" SOURCE_PATH OPTIONS)
  message("${it_SOURCE_PATH};${it_OPTIONS}")
endfunction()
foreach(name check_linkage cmake_install cmake_config_fixup fixup_pkgconfig install_copyright)
  cmake_language(EVAL CODE "function(vcpkg_${name})\\nendfunction()")
endforeach()
"""


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def require(right, what):
    if not right:
        raise SystemExit(f"FAILED: {what}")


def configure(folder, options):
    """The build takes these options, knows all of them, and makes nothing but the library of them."""
    said = run("cmake", "-S", ROOT, "-B", folder, *options)
    require("not used by the project" not in said, f"an option is unknown:\n{said}")
    cache = (folder / "CMakeCache.txt").read_text()
    require("DUOGEMM_BUILD_TESTS:BOOL=OFF" in cache, "tests are built")
    return re.search(r"^BACKEND:\w+=(\w+)", cache, re.MULTILINE)[1]


def check_vcpkg(folder):
    port = ROOT / "packaging/vcpkg/duogemm"
    manifest = json.loads((port / "vcpkg.json").read_text())
    require(manifest["version"] == VERSION, "vcpkg.json has another version")
    script = folder / "vcpkg.cmake"
    for features, backend in (("core", "cpu"), ("core;opencl", "opencl"), ("core;cuda", "cuda"), ("core;cuda;opencl", "all")):
        script.write_text(f'set(FEATURES "{features}")\nset(CURRENT_PACKAGES_DIR {folder}/none){VCPKG}include({port}/portfile.cmake)\n')
        source, *options = run("cmake", "-P", script).strip().split(";")
        require(source == str(ROOT) and f"-DBACKEND={backend}" in options, f"{features}: {options}")
        if backend == "opencl":
            require(configure(folder / "vcpkg", options) == backend, "vcpkg's backend")


def check_spack(folder):
    def package(**variants):
        class CMakePackage:
            spec = types.SimpleNamespace(satisfies=lambda wanted: variants.get(wanted[1:], False))

            def define(self, name, value):
                return f"-D{name}={value if isinstance(value, str) else 'ON' if value else 'OFF'}"

            def define_from_variant(self, name, variant):
                return self.define(name, variants.get(variant, False))

        names = {"CMakePackage": CMakePackage}
        names |= {name: lambda *_, **__: None for name in ("license", "version", "variant", "depends_on")}
        text = (ROOT / "packaging/spack/packages/duogemm/package.py").read_text()
        names["__file__"] = str(ROOT / "packaging/spack/packages/duogemm/package.py")
        exec(compile(text.replace("from spack.package import *", ""), "package.py", "exec"), names)
        require(names["Duogemm"].git == ROOT.as_uri(), f"Spack's repository is {names['Duogemm'].git}")
        return names["Duogemm"]().cmake_args()

    require("-DBACKEND=cpu" in package() and "-DBACKEND=all" in package(opencl=True, cuda=True), "Spack's backends")
    require(configure(folder / "spack", package(opencl=True)) == "opencl", "Spack's backend")


def check_conan(folder):
    """Answers whether Conan is there."""
    environment = {**os.environ, "CONAN_HOME": str(folder / "conan_home")}
    tools = folder / "tools"
    run(sys.executable, "-m", "venv", tools)
    if subprocess.run([tools / "bin/pip", "--disable-pip-version-check", "-q", "install", "conan==2.34.0"], check=False).returncode != 0:
        return False
    conan = tools / "bin/conan"
    run(conan, "profile", "detect", env=environment)
    with (folder / "conan_home/profiles/default").open("a") as profile:
        profile.write("\n".join(["", "[platform_requires]", *PLATFORM]) + "\n")
    require(f"version: {VERSION}" in run(conan, "inspect", ROOT / "packaging/conan", env=environment), "Conan's version")
    output = folder / "conan"
    run(conan, "install", ROOT / "packaging/conan", "-o", "&:backend=opencl", "-of", output, env=environment)
    presets = json.loads(next(output.rglob("CMakePresets.json")).read_text())
    variables = presets["configurePresets"][0]["cacheVariables"]
    options = [f"-D{name}={'OFF' if value is False else value}" for name, value in variables.items()
               if name == "BACKEND" or name.startswith("DUOGEMM_")]
    require(configure(folder / "conan_build", options) == "opencl", "Conan's backend")
    return True


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    check_vcpkg(folder)
    check_spack(folder)
    if not check_conan(folder):
        print("Conan's recipe was not checked: PyPI cannot be reached")


main()
