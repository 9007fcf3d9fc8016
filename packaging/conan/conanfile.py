"""The library for Conan 2, built from the sources around it: conan create packaging/conan --build=missing"""

import pathlib
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

HERE = pathlib.Path(__file__).parent


class Duogemm(ConanFile):
    name = "duogemm"
    description = "Single-precision matrix multiplication, one kernel source for OpenCL, CUDA and CPUs"
    license = "Apache-2.0"
    package_type = "shared-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"backend": ["opencl", "cuda", "all", "cpu"]}
    default_options = {"backend": "opencl"}

    def set_version(self):
        text = (HERE / "../../common/include/duogemm/version.h").read_text()
        self.version = re.search(r'DUOGEMM_VERSION "(.+)"', text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "CHANGELOG.md", "cmake/*", "common/*", "compat/*", "kernels/*", "opencl/*", "cuda/*",
                        "cpu/*", "blas/*"):
            copy(self, pattern, HERE / "../..", self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]", headers=True, libs=False)
        self.requires("nlohmann_json/[>=3.10]")
        self.requires("xxhash/[>=0.8]")
        if self.options.backend in ("opencl", "all"):
            self.requires("opencl-clhpp-headers/[*]")
            self.requires("opencl-headers/[*]", transitive_headers=True)
            self.requires("opencl-icd-loader/[*]", transitive_libs=True)
        if self.options.backend in ("cuda", "all"):
            self.requires("zstd/[>=1.4]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["BACKEND"] = str(self.options.backend)
        for option in ("BUILD_PROGRAM", "BUILD_TESTS", "WERROR"):
            toolchain.cache_variables[f"DUOGEMM_{option}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["duogemm"]
