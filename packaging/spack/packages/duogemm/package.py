"""For Spack, from the repository around it: spack repo add packaging/spack && spack install duogemm"""

import pathlib

from spack.package import *


class Duogemm(CMakePackage):
    """Single-precision matrix multiplication, one kernel source for OpenCL, CUDA and CPUs."""

    git = pathlib.Path(__file__).resolve().parents[4].as_uri()
    license("Apache-2.0")
    version("main", branch="main")

    variant("opencl", default=True, description="The backend for OpenCL")
    variant("cuda", default=False, description="The backend for CUDA")
    variant("program", default=True, description="The program duogemm")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("boost", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("xxhash", type="build")
    depends_on("cli11", type="build", when="+program")
    depends_on("opencl-clhpp", type="build", when="+opencl")
    depends_on("ocl-icd", when="+opencl")
    depends_on("cuda@11.8:", when="+cuda")
    depends_on("zstd", when="+cuda")

    def cmake_args(self):
        backends = [name for name in ("opencl", "cuda") if self.spec.satisfies("+" + name)]
        return [
            self.define("BACKEND", "all" if len(backends) == 2 else (backends or ["cpu"])[0]),
            self.define_from_variant("DUOGEMM_BUILD_PROGRAM", "program"),
            self.define("DUOGEMM_BUILD_TESTS", False),
            self.define("DUOGEMM_WERROR", False),
        ]
