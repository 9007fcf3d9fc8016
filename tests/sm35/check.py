#!/usr/bin/env python3
"""Compiles the kernels for compute capability 3.5, which today's toolkits no longer know.

CUDA 11.8's compilers are the last that do, and rung 8 was made for it. NVRTC makes PTX of every kernel, ptxas
makes machine code of that, and the PTX must hold non-coherent loads exactly where USE_LDG asks for them and
shuffles exactly where USE_SHUFFLE does. Rungs that say that such a device cannot run them are left out. No GPU is
needed.

The compilers come from the Python packages nvidia-cuda-nvrtc-cu11 and nvidia-cuda-nvcc-cu11. Without them the
check ends with 77, which CTest takes as skipped.
"""

import argparse
import ctypes
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
sys.dont_write_bytecode = True

from outcome import skip  # noqa: E402

FOLDERS = ("kernels/ladder", "kernels/ladder/beyond", "kernels/support")
UNSUPPORTED = 1  # of the rungs: 17_tensor_cores

NVRTC = "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2"  # the name that every NVRTC from 11.2 to 11.8 has
BUILTINS = "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.11.8"
PTXAS = "nvidia/cuda_nvcc/bin/ptxas"

# What a switch of a kernel must yield, and nothing else may.
INSTRUCTIONS = {"USE_LDG": "ld.global.nc", "USE_SHUFFLE": "shfl"}


class CompilerError(Exception):
    pass


class Unsupported(Exception):
    """A kernel's own words (#error "unsupported: ...")."""


def find(name, folders):
    for folder in folders:
        if (path := pathlib.Path(folder) / name).is_file():
            return path
    skip(f"{name} is in none of the folders of Python's packages; "
         "pip install nvidia-cuda-nvrtc-cu11==11.8.* nvidia-cuda-nvcc-cu11==11.8.*")


class Nvrtc:
    def __init__(self, folders):
        # Loaded first, because NVRTC looks for it only where the system's libraries are.
        ctypes.CDLL(str(find(BUILTINS, folders)), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(find(NVRTC, folders)))
        self.headers = {str(path.relative_to(ROOT / folder)): path.read_bytes()
                        for folder in ("compat", "kernels") for path in sorted((ROOT / folder).rglob("*.h"))}

    def compile(self, path, defines):
        """The PTX of a kernel file."""
        program = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(self.headers))(*self.headers.values())
        names = (ctypes.c_char_p * len(self.headers))(*(name.encode() for name in self.headers))
        self.check(self.library.nvrtcCreateProgram(ctypes.byref(program), path.read_bytes(), path.name.encode(),
                                                   len(self.headers), texts, names))
        try:
            # The vectors of compat/ have several names for a member, by way of anonymous structs: an extension of C++
            # that nvcc always has and NVRTC only from CUDA 13 on, unless its front end is told.
            options = ["--gpu-architecture=compute_35", "--fmad=false", "--std=c++17",
                       "-Xcudafe=--nonstd_anonymous_unions"]
            options += [f"-D{name}={value}" for name, value in defines.items()]
            arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            if self.library.nvrtcCompileProgram(program, len(options), arguments) != 0:
                log = self.fetch(program, "ProgramLog")
                if reason := re.search(r'#error.*"(unsupported: .*)"', log):
                    raise Unsupported(reason.group(1))
                raise CompilerError("NVRTC: " + log)
            return self.fetch(program, "PTX")
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def fetch(self, program, what):
        size = ctypes.c_size_t()
        self.check(getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.check(getattr(self.library, f"nvrtcGet{what}")(program, text))
        return text.value.decode()

    def check(self, result):
        if result != 0:
            self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
            raise CompilerError("NVRTC: " + self.library.nvrtcGetErrorString(result).decode())


class Ptxas:
    def __init__(self, folders):
        self.program = find(PTXAS, folders)
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True).stdout
        if "release 11." not in version:
            skip(f"{self.program} is not CUDA 11's")

    def assemble(self, ptx):
        """What ptxas says about registers and spills."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernel.ptx"
            path.write_text(ptx)
            done = subprocess.run([self.program, "-arch=sm_35", "-v", path, "-o", path.with_suffix(".cubin")],
                                  capture_output=True, text=True)
        if done.returncode != 0:
            raise CompilerError("ptxas: " + done.stderr)
        registers = re.search(r"Used (\d+) registers", done.stderr).group(1)
        spilled = sum(int(size) for size in re.findall(r"(\d+) bytes spill", done.stderr))
        return f"{registers} registers, " + (f"{spilled} BYTES SPILLED" if spilled else "no spills")


def count(instruction, ptx):
    return len(re.findall(rf"^\s*(?:@!?%p\d+\s+)?{re.escape(instruction)}\.", ptx, re.MULTILINE))


def faults(ptx, defines):
    """What the PTX has and should not have, or the other way round."""
    for switch, instruction in INSTRUCTIONS.items():
        found = count(instruction, ptx)
        if defines.get(switch) and found == 0:
            yield f"{switch}=1 yields no {instruction}"
        if not defines.get(switch) and found > 0:
            yield f"{found} {instruction} without {switch}=1"


def combinations(text):
    """Every setting of those switches that the kernel has."""
    switches = [switch for switch in INSTRUCTIONS if f"#ifndef {switch}\n" in text]
    for values in itertools.product((0, 1), repeat=len(switches)):
        yield dict(zip(switches, values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--packages", help="folder that has the packages; default: where Python looks")
    arguments = parser.parse_args()
    folders = [arguments.packages] if arguments.packages else sys.path
    nvrtc, ptxas = Nvrtc(folders), Ptxas(folders)
    passed = failed = unsupported = 0
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.cl")):
        for defines in combinations(path.read_text()):
            name = " ".join([path.stem] + [f"{switch}={value}" for switch, value in defines.items()])
            try:
                ptx = nvrtc.compile(path, defines)
                resources = ptxas.assemble(ptx)
                problems = list(faults(ptx, defines))
            except Unsupported as reason:
                unsupported += 1
                print(f"{name}: {reason}")
                continue
            except CompilerError as error:
                problems = [str(error)]
            if problems:
                failed += 1
                print(f"{name}: FAILED: {'; '.join(problems)}")
            else:
                passed += 1
                counts = [f"{count(instruction, ptx)} {instruction}" for instruction in INSTRUCTIONS.values()]
                print(f"{name}: {', '.join(counts + [resources])}")
    print(f"{passed} passed, {failed} failed, {unsupported} unsupported (expected: {UNSUPPORTED})")
    return 1 if failed or not passed or unsupported != UNSUPPORTED else 0


if __name__ == "__main__":
    sys.exit(main())
