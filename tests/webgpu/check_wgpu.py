#!/usr/bin/env python3
"""Runs every rung's shader on Mesa's lavapipe, through wgpu-native, and compares each element: check_wgpu.py SHADERS

SHADERS is the program webgpu_shaders. wgpu and numpy come from PyPI, lavapipe from Debian's mesa-vulkan-drivers. Where they are missing, or
do not come together, the check ends with 77, which CTest takes as skipped.
"""

import json
import math
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from browsers import LAVAPIPE  # noqa: E402
from outcome import skip  # noqa: E402

SETTINGS = 2  # of each rung, drawn at random
ALPHA = 3.0


if not LAVAPIPE:
    skip("lavapipe is not installed (package mesa-vulkan-drivers)")
os.environ["VK_ICD_FILENAMES"] = os.environ["VK_DRIVER_FILES"] = str(LAVAPIPE)
try:
    import numpy
    import wgpu
    ADAPTER = wgpu.gpu.request_adapter_sync(power_preference="low-power")
except (ImportError, OSError, RuntimeError) as error:
    skip(f"wgpu and numpy for {sys.executable} do not come to a device: {error}")
if "llvmpipe" not in ADAPTER.summary:
    skip(f"wgpu finds {ADAPTER.summary} in place of lavapipe")

LIMITS = ("max-compute-workgroup-storage-size", "max-compute-invocations-per-workgroup", "max-compute-workgroup-size-x",
          "max-compute-workgroup-size-y")


def up(size, multiple):
    return math.ceil(size / multiple) * multiple


class Device:
    def __init__(self):
        self.device = ADAPTER.request_device_sync(required_limits={name: ADAPTER.limits[name] for name in LIMITS})
        print(ADAPTER.summary)

    def buffer(self, data, usage=0):
        return self.device.create_buffer_with_data(data=data, usage=wgpu.BufferUsage.STORAGE | usage)

    def launch(self, shader, values, buffers, groups):
        """The layout is spelled out: one that wgpu makes lacks what a kernel does not use."""
        module = self.device.create_shader_module(code=shader["wgsl"])
        kinds = ["uniform"] + ["storage" if each["written"] else "read-only-storage" for each in shader["buffers"]]
        layout = self.device.create_bind_group_layout(entries=[
            {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}} for i, kind in enumerate(kinds)])
        pipeline = self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": module, "entry_point": shader["name"]})
        numbers = numpy.zeros(up(len(shader["numbers"]), 4), numpy.int32)
        for i, number in enumerate(shader["numbers"]):
            value = values[number["name"]]
            numbers[i] = numpy.float32(value).view(numpy.int32) if number["real"] else value
        uniform = self.device.create_buffer_with_data(data=numbers, usage=wgpu.BufferUsage.UNIFORM)
        group = self.device.create_bind_group(layout=layout, entries=[
            {"binding": i, "resource": {"buffer": each, "offset": 0, "size": each.size}} for i, each in enumerate([uniform, *buffers])])
        encoder = self.device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*groups)
        work.end()
        self.device.queue.submit([encoder.finish()])

    def read(self, buffer):
        return numpy.frombuffer(self.device.queue.read_buffer(buffer), numpy.float32)


def padded(matrix, rows, cols):
    result = numpy.zeros((rows, cols), numpy.float32)
    result[:matrix.shape[0], :matrix.shape[1]] = matrix
    return result


def wrong_elements(device, data, rung, variant, sizes, beta):
    """How many elements differ. Matrices are column-major, and whole numbers, so that every sum is exact."""
    m, n, k = sizes
    random = numpy.random.default_rng(7)
    a, b, c = (random.integers(-5, 6, shape).astype(numpy.float32) for shape in ((m, k), (k, n), (m, n)))
    wanted = ALPHA * (a @ b) + beta * c
    pm, pn, pk = (up(size, multiple) for size, multiple in zip(sizes, variant["multiples"]))
    rows, cols = (m, n) if rung["stores_any_size"] else (pm, pn)
    a, b, c = padded(a, pm, pk), padded(b, pk, pn), padded(c, rows, cols)
    a_buffer, b_buffer = device.buffer(a.ravel("F")), device.buffer((b.T if rung["transposed_b"] else b).ravel("F"))
    c_buffer = device.buffer(c.ravel("F"), wgpu.BufferUsage.COPY_SRC)
    groups = [math.ceil(rows / variant["tile"][0]), math.ceil(cols / variant["tile"][1]), variant["groups_z"]]
    values = {"M": rows, "N": cols, "K": pk, "alpha": ALPHA, "beta": beta}
    splits = variant["splits"]
    if rung["row_major"]:
        device.launch(variant, {**values, "M": cols, "N": rows}, [b_buffer, a_buffer, c_buffer], groups)
    elif splits == 1:
        device.launch(variant, values, [a_buffer, b_buffer, c_buffer], groups)
    else:
        partial = device.buffer(numpy.full(rows * cols * splits, numpy.nan, numpy.float32))
        before = device.buffer(c.ravel("F"))
        device.launch(variant, {**values, "alpha": 1.0, "beta": 0.0}, [a_buffer, b_buffer, partial], groups)
        reduce = data["supporting"]["reduce"]
        sums = {"M": rows, "N": cols, "splits": splits, "p_offset": 0, "ldp": rows, "alpha": ALPHA, "beta": beta, "batch": 1,
                **{f"{matrix}_{member}": value for matrix in "cd" for member, value in (("offset", 0), ("ld", rows), ("stride", 0))}}
        device.launch(reduce, sums, [partial, before, c_buffer], [math.ceil(rows * cols / reduce["work_items"][0]), 1, 1])
    got = device.read(c_buffer).reshape((rows, cols), order="F")[:m, :n]
    return int(numpy.count_nonzero(got != wanted))


# One slip in the shader of each of these rungs, which must make its product wrong.
DEFECTS = [("1", "k < numbers.K", "k < numbers.K - 1"), ("2", "workgroupBarrier();", ""), ("6", "fma(a, b_1,", "fma(a, b_2,"),
           ("11", "vec4f(b.z)", "vec4f(b.y)"), ("15", "slice * length, numbers.K", "slice * length + 8, numbers.K")]


def main():
    data = json.loads(subprocess.run([sys.argv[1], str(SETTINGS), "1"], capture_output=True, text=True, check=True).stdout)
    device = Device()
    failures = count = 0
    for rung in data["rungs"]:
        for index, variant in enumerate(rung["variants"]):
            m, n, k = variant["tile"][0] + 1, variant["tile"][1] + 3, max(variant["multiples"][2], 8) * 2 + 5
            beta = 2.0 * (index % 2)
            wrong = wrong_elements(device, data, rung, variant, (m, n, k), beta)
            count += 1
            if wrong:
                failures += 1
                print(f"WRONG: rung {rung['rung']} {variant['tunables']} M, N, K = {m}, {n}, {k}, beta {beta}: {wrong} elements")
    for label, text, slip in DEFECTS:
        rung = next(each for each in data["rungs"] if each["rung"] == label)
        variant = rung["variants"][0]
        broken = {**variant, "wgsl": variant["wgsl"].replace(text, slip, 1)}
        if broken["wgsl"] == variant["wgsl"]:
            sys.exit(f"FAILED: the shader of rung {label} does not have '{text}'")
        sizes = [2 * size for size in variant["tile"]] + [max(variant["multiples"][2], 8) * 4]
        found = wrong_elements(device, data, rung, broken, sizes, 2.0)
        print(f"rung {label} with '{slip}' for '{text}': {found} elements are wrong")
        failures += found == 0
    if failures:
        sys.exit(f"FAILED: {failures}")
    print(f"{count} products are right, and {len(DEFECTS)} defects were found")


if __name__ == "__main__":
    main()
