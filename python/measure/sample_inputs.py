#!/usr/bin/env python3
"""PyTorch's own sample inputs of everything that multiplies, as PyTorch computes them and under `duogemm run`, in FP32 and by f16x3.

  sample_inputs.py DUOGEMM [--only OP,OP] [--cpu]

Each contender is a process of its own; all three run at once. Results and gradients are compared with float64 on the CPU, and must be
within a bound that knows nothing of any library, with u = 2^-24:

- products (PRODUCTS): (max(K, 2 sqrt(K)) + 4) u G for each element. G is the same computation on the magnitudes of the inputs, scalars and
  incoming gradients, and K the number of products that an element sums, which is the same computation on ones;
- what is made of products (MADE_OF_PRODUCTS): ten times what the result changes by in float64 when the inputs change at random by
  (K + 4) u of themselves, and (K + 4) u of the largest result. K is the largest extent of the inputs.

What is beyond the bound for PyTorch alone, too, is counted apart, and counts against duogemm where it is more than four times as far
from the reference. Errors must be the same, for PyTorch's inputs that are in error, too. Products are also captured in a CUDA graph, and
the graph is run twice. Prints the counts and every difference, and ends with 1 where there is one. It needs the package expecttest.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from contenders import CONTENDERS, PLAIN, PRECISIONS, Lazy, Process, graph_of, last_line, print_calls, program_named

torch = Lazy("torch")

PRODUCTS = [
    "mm", "addmm", "bmm", "baddbmm", "addbmm", "matmul", "__rmatmul__", "mv", "addmv", "dot", "vdot", "inner", "tensordot", "einsum",
    "linalg.multi_dot", "linalg.vecdot", "nn.functional.linear", "nn.functional.bilinear"]
CAPTURED = ["mm", "addmm", "bmm", "baddbmm", "matmul", "nn.functional.linear"]
MADE_OF_PRODUCTS = [
    "linalg.matrix_power", "matrix_exp", "cov", "corrcoef", "cdist", "nn.functional.scaled_dot_product_attention",
    "nn.functional.multi_head_attention_forward", "nn.functional.conv1d", "nn.functional.conv2d", "nn.functional.conv_transpose2d",
    "cholesky_inverse", "cholesky_solve", "lu_solve", "triangular_solve", "linalg.cholesky", "linalg.det", "linalg.slogdet", "linalg.inv",
    "linalg.solve", "linalg.solve_triangular", "linalg.lu", "linalg.lu_factor", "linalg.lu_solve", "linalg.lstsq", "linalg.pinv",
    "linalg.householder_product", "linalg.qr", "linalg.svd", "linalg.svdvals", "linalg.eigh", "linalg.eigvalsh", "linalg.tensorinv",
    "linalg.tensorsolve"]
U = 2.0**-24
WORSE = 4  # times as far from the reference as PyTorch alone, where that is beyond the bound


# A process that computes everything


def changed(sample, change):
    """The sample on the CPU, with each of its tensors and scalars of the product changed."""
    def of(value, name=""):
        if isinstance(value, torch.Tensor):
            return change(value.detach()).requires_grad_(value.requires_grad) if value.is_floating_point() else value.cpu()
        if isinstance(value, (list, tuple)):
            return type(value)(of(each) for each in value)
        if isinstance(value, dict):
            return {key: of(each, key) for key, each in value.items()}
        if name in ("alpha", "beta") and isinstance(value, (int, float)):
            return change(torch.tensor(value, dtype=torch.float64)).item()
        return value

    words = {"args": of(tuple(sample.args)), "kwargs": of(sample.kwargs), "output_process_fn_grad": sample.output_process_fn_grad}
    return type(sample)(of(sample.input), **words)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [tensor for each in value.values() for tensor in tensors_in(each)]
    return [tensor for each in value for tensor in tensors_in(each)] if isinstance(value, (list, tuple)) else []


def computed(op, sample, change=lambda tensor: tensor, backward=True):
    """Results by name: those of the operation, and the gradients of its inputs for gradients that come in, drawn from a fixed seed."""
    answer = sample.output_process_fn_grad(op(sample.input, *sample.args, **sample.kwargs))
    outputs = tensors_in(answer)
    results = {f"result {number}": output.detach() for number, output in enumerate(outputs)}
    leaves = [tensor for tensor in tensors_in([sample.input, sample.args, sample.kwargs]) if tensor.requires_grad]
    outputs = [output for output in outputs if output.requires_grad]
    if backward and leaves and outputs:
        draw = torch.Generator().manual_seed(1)
        incoming = [change(torch.randn(output.shape, generator=draw)).to(output) for output in outputs]
        gradients = torch.autograd.grad(outputs, leaves, incoming, allow_unused=True)
        results |= {f"gradient {number}": gradient for number, gradient in enumerate(gradients) if gradient is not None}
    return results


def largest(values):
    return float(values.abs().max()) if values.numel() else 0.0


def reference(op, sample):
    """Results in float64 on the CPU, and the bound of each."""
    def in_double(change):
        def wide(tensor):
            return change(tensor.to("cpu", torch.float64))

        return computed(op, changed(sample, wide), wide)

    right = in_double(lambda tensor: tensor)
    if op.name in PRODUCTS:
        magnitudes, counts = in_double(torch.abs), in_double(torch.ones_like)
        return right, {key: (torch.maximum(counts[key], 2 * counts[key].sqrt()) + 4) * U * magnitudes[key] for key in right}
    k = max([extent for tensor in tensors_in([sample.input, sample.args, sample.kwargs]) for extent in tensor.shape] or [1])
    draw = torch.Generator().manual_seed(2)
    near = [in_double(lambda t: t * (1 + (k + 4) * U * (2 * torch.rand(t.shape, generator=draw, dtype=t.dtype) - 1))) for _ in range(4)]

    def bound(key, values):
        moved = max(largest(values - other[key]) for other in near)
        return torch.full(values.shape, 10 * moved + (k + 4) * U * largest(values), dtype=torch.float64)

    return right, {key: bound(key, values) for key, values in right.items()}


def judged(results, right, bounds):
    """The largest error over its bound. Results that differ in shape, or in which elements are finite, are infinitely far."""
    worst = 0.0
    for key, values in results.items():
        ours, expected = values.detach().cpu().double(), right[key].detach().double()
        finite = expected.isfinite()
        if ours.shape != expected.shape or not torch.equal(ours.isfinite(), finite) or not torch.equal(ours.isnan(), expected.isnan()):
            return float("inf")
        errors = (ours - expected).abs()[finite]
        limits = bounds[key].expand(expected.shape)[finite].nan_to_num(0.0)
        worst = max(worst, largest(torch.where(errors == 0, 0.0, errors / limits)))
    return worst


def in_graph(op, sample):
    """The operation's results as a CUDA graph computes them the second time."""
    def forward():
        with torch.no_grad():
            return computed(op, sample, backward=False)

    graph, results = graph_of(forward)
    graph.replay()
    for values in results.values():
        values.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    return {key: values.clone() for key, values in results.items()}


def attempt(compute):
    """What it answers, or its error in words."""
    try:
        return compute(), None
    except Exception as error:  # whatever an operation raises is a result here
        return None, f"{type(error).__name__}: {error}"


def records_of(op, cpu):
    """A record for each sample of an operation, and for each of its inputs that are in error."""
    device = "cpu" if cpu else "cuda"
    torch.manual_seed(0)
    for number, sample in enumerate(op.sample_inputs(device, torch.float32, requires_grad=op.supports_autograd)):
        expected, no_reference = attempt(lambda: reference(op, sample))

        def record(what, compute):
            results, error = attempt(compute)
            worst = None if error or no_reference else judged(results, *expected)
            return {"what": what, "error": error, "worst": worst, "without_reference": no_reference}

        yield record(f"sample {number}", lambda: computed(op, sample))
        if op.name in CAPTURED and not cpu:
            yield record(f"sample {number} in a graph", lambda: in_graph(op, sample))
    if op.error_inputs_func is not None:
        errors, failure = attempt(lambda: list(op.error_inputs(torch.device(device))))
        for number, case in enumerate(errors or []):
            _, error = attempt(lambda: computed(op, case.sample_input, backward=False))
            yield {"what": f"error {number}", "error": error}
        if failure:
            yield {"what": "errors", "error": failure}


def compute_all(options):
    """A line for each operation in the file: its name before it begins, so that a crash names it, and then its records."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False  # which PyTorch's tests fix
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)  # The references are small.
    wanted = options.only.split(",") if options.only else [*PRODUCTS, *MADE_OF_PRODUCTS]
    with open(options.file, "w", buffering=1) as file:
        for op in sorted((op for op in op_db if op.name in wanted), key=lambda op: wanted.index(op.name)):
            name = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
            print(json.dumps({"op": name}), file=file)
            records, failure = attempt(lambda: list(records_of(op, options.cpu)))
            print(json.dumps({"op": name, "records": [{"what": "all", "error": failure}] if failure else records}), file=file)


# The comparison


def computed_under_all(options, folder):
    """Records by contender, and then by operation and sample."""
    words = [f"--only={options.only}", *(["--cpu"] if options.cpu else [])]
    files = {contender: pathlib.Path(folder) / contender for contender in CONTENDERS}
    processes = {contender: Process(options.duogemm, contender, __file__, "compute", files[contender], *words) for contender in CONTENDERS}
    records = {}
    for contender, process in processes.items():
        status = process.end(580)
        lines = [json.loads(line) for line in files[contender].read_text().splitlines()] if files[contender].exists() else []
        if status != 0:
            during = f" during {lines[-1]['op']}" if lines else ""
            print(f"DIFFERENCE: {contender} ended with {status}{during}: {last_line(process.error_output())}")
        records[contender] = {(line["op"], record["what"]): record for line in lines for record in line.get("records", [])}
        if contender != PLAIN:
            print(contender)
            print_calls(process.error_output())
    return records


def differences(ours, plain):
    """Of one precision, in words; and how many samples were within the bound, beyond it for both, and in error for both."""
    kinds = ("within the bound", "beyond it for PyTorch alone too", "in error as in PyTorch alone", "without a reference")
    found, counts = [], dict.fromkeys(kinds, 0)
    for key, record in plain.items():
        where, other = ", ".join(key), ours.get(key)
        if other is None:
            found.append(f"{where}: nothing was computed")
        elif record["error"] != other["error"]:
            found.append(f"{where}: {other['error'] or 'no error'}; PyTorch alone: {record['error'] or 'no error'}")
        elif record["error"]:
            counts["in error as in PyTorch alone"] += 1
        elif other.get("worst") is None or record.get("worst") is None:
            counts["without a reference"] += 1
        elif other["worst"] <= 1:
            counts["within the bound"] += 1
        elif record["worst"] > 1 and other["worst"] <= WORSE * record["worst"]:
            counts["beyond it for PyTorch alone too"] += 1
        else:
            found.append(f"{where}: {other['worst']:.3g} times the bound; PyTorch alone: {record['worst']:.3g}")
    return found, counts


def compare(options):
    with tempfile.TemporaryDirectory() as folder:
        records = computed_under_all(options, folder)
    failed = not records[PLAIN]
    print(f"{len({op for op, _ in records[PLAIN]})} operations, {len(records[PLAIN])} samples")
    for contender in PRECISIONS:
        found, counts = differences(records[contender], records[PLAIN])
        print(f"{contender}: {len(found)} differences; " + ", ".join(f"{count} {what}" for what, count in counts.items()))
        print("".join(f"  DIFFERENCE: {line}\n" for line in found), end="")
        failed |= bool(found)
    beyond = sorted({op for (op, _), record in records[PLAIN].items() if (record.get("worst") or 0) > 1})
    print(f"beyond the bound for PyTorch alone: samples of {', '.join(beyond) or 'nothing'}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if sys.argv[1:2] == ["compute"]:
        parser.add_argument("command")
        parser.add_argument("file")
    else:
        parser.add_argument("duogemm", type=program_named)
    parser.add_argument("--only", default="", help="operations, with commas between them")
    parser.add_argument("--cpu", action="store_true", help="where there is no GPU; nothing is captured")
    options = parser.parse_args()
    return compute_all(options) if "file" in options else compare(options)


if __name__ == "__main__":
    sys.exit(main())
