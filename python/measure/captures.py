#!/usr/bin/env python3
"""Whether memory stays where it is while CUDA graphs with products are captured, updated and destroyed, many times.

  captures.py DUOGEMM [PART ...] [--times 10000]
  captures.py run PART [--times 10000]

The parts: `torch` (torch.cuda.CUDAGraph, between eager calls), `jax` (a jitted chain of products whose buffers move, so that XLA updates
its command buffers) and `runtime` (cublasSgemm in graphs made by the CUDA runtime's own functions: captured graphs, captures into child
graphs, clones, updates of an executable and of its child, destroyed in every order, some of them while they run). The first form runs
each part as it is (not `runtime`) and under `duogemm run` in FP32 and by f16x3, a process each; `run` is such a process alone. The
shapes need workspace: K is split. Results are exact (all ones) and are checked as the graphs are run. A part prints the memory in use on
the device after each tenth, and fails where the last is more than ALLOWED above that after the first. Ends with 1 where one failed.
"""

import argparse
import contextlib
import ctypes
import glob
import itertools
import os
import site
import sys

from contenders import CONTENDERS, PLAIN, PRECISIONS, Lazy, Process, last_line, print_calls, program_named

torch, jax, jnp = map(Lazy, ("torch", "jax", "jax.numpy"))
M, N, K = 256, 256, 20000  # C is so small that K must be split to use the device
ALLOWED = 256 << 20  # bytes of 9,000 captures, which need several MiB each: of a few graphs more, or fewer, that have yet to end


class Failed(Exception):
    """What is wrong, for people."""


def in_turn_of_tenths(times, act, in_use):
    """Calls act(number) so many times, and looks at the memory in use after each tenth."""
    levels = []
    for tenth in range(10):
        for number in range(tenth * times // 10, (tenth + 1) * times // 10):
            act(number)
        levels.append(in_use())
        resident = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        sizes = f"{levels[-1] / 2**20:.1f} MiB on the device, {resident / 2**20:.0f} MiB here"
        print(f"  after {(tenth + 1) * times // 10}: {sizes}", flush=True)
    if levels[-1] - levels[0] > ALLOWED:
        raise Failed(f"memory on the device grew by {(levels[-1] - levels[0]) / 2**20:.1f} MiB")


def must_be(expected, found, what):
    if expected != found:
        raise Failed(f"{what} is {found}, and must be {expected}")


# PyTorch


def torch_part(times):
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.ones(M, K, device="cuda"), torch.ones(K, N, device="cuda")
    out, eager = (torch.empty(M, N, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    pool = torch.cuda.graph_pool_handle()

    def capture():
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(pool=pool)
        torch.mm(a, b, out=out)
        out.addmm_(a, b, beta=0.5)
        graph.capture_end()
        return graph

    with torch.cuda.stream(stream):
        torch.mm(a, b, out=eager)
        eager.addmm_(a, b)
        kept = capture()  # The pool lives as long as a graph that has it.

    def act(number):
        with torch.cuda.stream(stream):
            graph = capture()
            if number % 4 == 0:
                torch.mm(a, b, out=eager)
            out.zero_()
            graph.replay()
            if number % 16 == 0:
                graph.replay()
                must_be(1.5 * K, out.min().item(), "an element of a graph's result")
            if number % 3 == 0:
                stream.synchronize()
            del graph

    def in_use():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, whole = torch.cuda.mem_get_info()
        return whole - free

    in_turn_of_tenths(times, act, in_use)
    with torch.cuda.stream(stream):
        kept.replay()
    torch.cuda.synchronize()
    must_be((1.5 * K, K), (out.max().item(), eager.max().item()), "the last graph's result and the last eager one")


# JAX


def jax_part(times):
    jax.config.update("jax_default_matmul_precision", "highest")
    runtime = opened("cudart")

    @jax.jit
    def chain(x, w):
        for _ in range(4):
            x = (x @ w) @ w.T / (M * K)
        return x

    inputs = [jnp.ones((M, K)) + 0 for _ in range(7)]
    weights = jnp.ones((K, M))
    results = [None] * 11  # Held for a while, so that results, too, are somewhere else each time.

    def act(number):
        results[number % len(results)] = chain(inputs[number % len(inputs)], weights)
        if number % 500 == 0:
            must_be(True, bool(jnp.allclose(results[number % len(results)], 1.0)), "whether the chain's elements are 1")

    def in_use():
        jax.block_until_ready([result for result in results if result is not None])
        return used(runtime)

    in_turn_of_tenths(times, act, in_use)


# The CUDA runtime's own functions


def opened(name):
    """A library of CUDA as Python's packages or else the system have it, where PyTorch, CuPy and JAX find it."""
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    found = [path for folder in folders for path in glob.glob(f"{folder}/nvidia/*/lib/lib{name}.so.*")]
    for path in [*sorted(found, reverse=True), f"lib{name}.so", f"lib{name}.so.13", f"lib{name}.so.12"]:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    raise Failed(f"lib{name} was not found")


def used(runtime):
    free, whole = ctypes.c_size_t(), ctypes.c_size_t()
    must_be(0, runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(whole)), "cudaMemGetInfo's status")
    return whole.value - free.value


class Graphs:
    """The functions by name, each of which must answer 0, and a product on a stream of its own."""

    GLOBAL, THREAD_LOCAL = 0, 1  # modes of a capture: PyTorch's and XLA's

    def __init__(self):
        self.runtime = opened("cudart")
        opened("cublasLt")  # which cuBLAS needs
        self.cublas = opened("cublas")
        self.a, self.b, self.c = (self.made("cudaMalloc", ctypes.c_size_t(4 * count)) for count in (M * K, K * N, M * N))
        self.stream = self.made("cudaStreamCreateWithFlags", ctypes.c_uint(1))
        self.handle = ctypes.c_void_p()
        self.cublas_call("cublasCreate_v2", ctypes.byref(self.handle))
        self.cublas_call("cublasSetStream_v2", self.handle, self.stream)
        ones = (ctypes.c_float * (M * K))(*itertools.repeat(1.0, M * K))
        for matrix, count in ((self.a, M * K), (self.b, K * N)):
            self.call("cudaMemcpy", matrix, ones, ctypes.c_size_t(4 * count), 1)

    def call(self, name, *arguments):
        status = getattr(self.runtime, name)(*arguments)
        if status != 0:
            raise Failed(f"{name} answered {status}")

    def cublas_call(self, name, *arguments):
        must_be(0, getattr(self.cublas, name)(*arguments), f"{name}'s status")

    def made(self, name, *arguments):
        """The handle that the function writes to its first argument."""
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle

    def product(self, alpha, beta=0.0):
        """C = alpha A B + beta C, of ones: K alpha at first."""
        scalars = [ctypes.byref(ctypes.c_float(scalar)) for scalar in (alpha, beta)]
        self.cublas_call("cublasSgemm_v2", self.handle, 0, 0, M, N, K, scalars[0], self.a, M, self.b, K, scalars[1], self.c, M)

    def captured(self, alpha):
        """A graph of two products, one after the other: 1.5 K alpha."""
        self.call("cudaStreamBeginCapture", self.stream, self.GLOBAL)
        return self.filled(alpha)

    def captured_into(self, graph, alpha):
        """The same, into a graph that is there, as XLA does it."""
        self.call("cudaStreamBeginCaptureToGraph", self.stream, graph, None, None, ctypes.c_size_t(0), self.THREAD_LOCAL)
        return self.filled(alpha)

    def filled(self, alpha):
        self.product(alpha)
        self.product(alpha, 0.5)
        graph = ctypes.c_void_p()
        self.call("cudaStreamEndCapture", self.stream, ctypes.byref(graph))
        return graph

    def empty_graph(self):
        return self.made("cudaGraphCreate", ctypes.c_uint(0))

    def executable(self, graph):
        return self.made("cudaGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))

    def with_child(self, child):
        """A graph of which the other is a node, and the node."""
        graph, node = self.empty_graph(), ctypes.c_void_p()
        self.call("cudaGraphAddChildGraphNode", ctypes.byref(node), graph, None, ctypes.c_size_t(0), child)
        return graph, node

    def attempted(self, name, *arguments):
        """Whether the function answers 0. Updates may be refused: the two graphs may have other nodes."""
        done = getattr(self.runtime, name)(*arguments) == 0
        if not done:
            self.runtime.cudaGetLastError()
        return done

    def run(self, executable, expected, check):
        self.call("cudaGraphLaunch", executable, self.stream)
        if check:
            self.call("cudaStreamSynchronize", self.stream)
            element = ctypes.c_float()
            self.call("cudaMemcpy", ctypes.byref(element), ctypes.c_void_p(self.c.value + 4 * (M * N - 1)), ctypes.c_size_t(4), 2)
            must_be(expected, element.value, "an element of a graph's result")

    def in_use(self):
        self.call("cudaDeviceSynchronize")
        return used(self.runtime)


def runtime_part(times):
    graphs = Graphs()
    graphs.product(1.0)  # As a program would: what a library loads at its first call is loaded before the first capture.
    destroyed_by = {"first": "cudaGraphDestroy", "clone": "cudaGraphDestroy", "second": "cudaGraphDestroy", "parent": "cudaGraphDestroy",
                    "executable": "cudaGraphExecDestroy", "of_clone": "cudaGraphExecDestroy", "of_parent": "cudaGraphExecDestroy"}
    orders = list(itertools.permutations(destroyed_by))
    updates = {"of an executable": 0, "of an executable's child": 0}

    def act(number):
        check = number % 8 == 0
        first = graphs.captured(1.0)
        clone = graphs.made("cudaGraphClone", first)
        second = graphs.captured_into(graphs.empty_graph(), 2.0)
        parent, node = graphs.with_child(first)
        made = {"first": first, "clone": clone, "second": second, "parent": parent, "executable": graphs.executable(first),
                "of_clone": graphs.executable(clone), "of_parent": graphs.executable(parent)}
        for executable in ("executable", "of_clone", "of_parent"):
            graphs.run(made[executable], 1.5 * K, check)
        if graphs.attempted("cudaGraphExecUpdate", made["executable"], second, (ctypes.c_byte * 64)()):
            updates["of an executable"] += 1
            graphs.run(made["executable"], 3.0 * K, check)
        if graphs.attempted("cudaGraphExecChildGraphNodeSetParams", made["of_parent"], node, second):
            updates["of an executable's child"] += 1
            graphs.run(made["of_parent"], 3.0 * K, check)
        if number % 2 == 0:
            graphs.call("cudaStreamSynchronize", graphs.stream)  # The other times, some still run.
        for name in orders[number * 37 % len(orders)]:
            graphs.call(destroyed_by[name], made.pop(name))
            if check and "of_clone" in made:
                graphs.run(made["of_clone"], 1.5 * K, check)  # It lives longer than what it was made from.

    in_turn_of_tenths(times, act, graphs.in_use)
    print("  updates made: " + ", ".join(f"{count} {what}" for what, count in updates.items()))


PARTS = {"torch": torch_part, "jax": jax_part, "runtime": runtime_part}


def run_all(options):
    """Each part under each contender, a process each, one after the other: what is in use is the whole device's."""
    status = 0
    for part in options.parts or PARTS:
        # cuBLAS without a workspace captures nodes that allocate memory, which CUDA refuses to clone.
        for contender in PRECISIONS if part == "runtime" else CONTENDERS:
            print(f"{part}, {contender}", flush=True)
            process = Process(options.duogemm, contender, __file__, "run", part, "--times", options.times)
            for line in process.process.stdout:
                print(line, end="", flush=True)
            ended, told = process.end(60), process.error_output()
            if ended != 0:
                print(f"  FAILED: ended with {ended}: {last_line(told)}")
                status = 1
            if contender != PLAIN:
                print_calls(told)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    alone = sys.argv[1:2] == ["run"]
    if alone:
        parser.add_argument("command")
        parser.add_argument("part", choices=PARTS)
    else:
        parser.add_argument("duogemm", type=program_named)
        parser.add_argument("parts", nargs="*", metavar="part", help="all where none is given: " + ", ".join(PARTS))
    parser.add_argument("--times", type=int, default=10000)
    options = parser.parse_args()
    unknown = set(getattr(options, "parts", ())) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if options.times < 10:
        parser.error("--times must be at least 10")
    if not alone:
        return run_all(options)
    try:
        return PARTS[options.part](options.times)
    except Failed as failure:
        sys.exit(f"captures.py: {failure}")


if __name__ == "__main__":
    sys.exit(main())
