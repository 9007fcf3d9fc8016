#!/usr/bin/env python3
"""Looks at the machine code of the kernels for CPUs: the loop over k has a block's vectors in registers.

  tests/cpu_code/check.py OBJECT [OBJECT ...]

The objects are those that the library is made of; others than the programs of these kernels are passed over. A loop that also
writes vectors to the stack, and reads them from there, is right but slower by a third. The code is read and not run."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
sys.dont_write_bytecode = True

from outcome import expect, skip  # noqa: E402

# The functions of whole blocks, and the multiply-adds of a block for one k.
BLOCKS = {
    "AVX_512": {"cpu_panels": ("multiply_3_x_8", 24), "cpu_direct": ("whole_x_8", 24), "cpu_dots": ("block_4_x_4", 16)},
    "AVX2": {"cpu_panels": ("multiply_3_x_4", 12), "cpu_direct": ("whole_x_4", 12)},
}
# Where there are too few registers: four k of four rows are transposed in them, a last vector of A has a mask, or a block has one
# vector and eight columns.
TOO_MANY = re.compile("cpu_direct_.*(TRANS_A_1|VECTORS_1)|cpu_panels_.*COPY_A_0")


def functions(path):
    """The instructions of each function: address, name, operands."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listing.splitlines():
        if name := re.match(r"[0-9a-f]+ <(.*)>:", line):
            current = found.setdefault(name[1], [])
        elif instruction := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line):
            current.append((int(instruction[1], 16), instruction[2], instruction[3]))
    return found


def innermost_loops(code):
    """The instructions from where a jump goes back to, up to that jump, where there is no such jump between."""
    positions = {address: i for i, (address, _, _) in enumerate(code)}
    loops = []
    for i, (address, name, operands) in enumerate(code):
        target = re.match(r"([0-9a-f]+) <", operands)
        if name.startswith("j") and target and int(target[1], 16) in positions and int(target[1], 16) < address:
            loops.append((positions[int(target[1], 16)], i))
    for first, last in loops:
        if not any(first <= other_first and other_last < last for other_first, other_last in loops):
            yield code[first : last + 1]


def on_stack(code):
    """Whether an instruction reads or writes a vector on the stack."""
    frame = any((name, operands) == ("mov", "%rsp,%rbp") for _, name, operands in code)
    return lambda operands: "mm" in operands and ("(%rsp" in operands or (frame and "(%rbp" in operands))


def check(path, wanted, multiply_adds):
    codes = [code for name, code in functions(path).items() if re.match(rf"_ZL\d+{wanted}P", name)]
    expect(len(codes) == 1, f"{path.name}: one function {wanted} is expected, {len(codes)} are there")
    main_loops = [loop for loop in innermost_loops(codes[0]) if sum(name.startswith("vfmadd") for _, name, _ in loop) >= multiply_adds]
    expect(main_loops, f"{path.name}: {wanted} has no loop of {multiply_adds} multiply-adds")
    is_kept = on_stack(codes[0])
    for loop in main_loops:
        kept = [f"{name} {operands}" for _, name, operands in loop if is_kept(operands)]
        expect(not kept, f"{path.name}: the loop of {wanted} has vectors on the stack: {'; '.join(kept)}")


def main(objects):
    if shutil.which("objdump") is None:
        skip("objdump, of binutils, is not here")
    looked_at = 0
    for instructions, kernels in BLOCKS.items():
        for kernel, (wanted, multiply_adds) in kernels.items():
            programs = [path for path in objects if re.match(f"{kernel}_.*_{instructions}[.]cpp[.]o(bj)?$", path.name)]
            programs = [path for path in programs if not TOO_MANY.match(path.name)]
            expect(programs, f"no program of {kernel} for {instructions} is there")
            for path in programs:
                check(path, wanted, multiply_adds)
            looked_at += len(programs)
    print(f"ok: {looked_at} programs have their blocks in registers")


if __name__ == "__main__":
    main([pathlib.Path(word) for word in sys.argv[1:]])
