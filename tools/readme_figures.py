#!/usr/bin/env python3
"""Makes the tables of README.md, bench/results/README.md, kernels/ladder/README.md, docs/devices.md and docs/precision.md,
and the charts, from the result files.

  tools/readme_figures.py           writes all of them (the charts need matplotlib)
  tools/readme_figures.py --check   only says whether the tables are what the files say; needs nothing
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench" / "plots"))

import ladder_table  # noqa: E402
import results  # noqa: E402

RESULTS = ROOT / "bench" / "results"
README = ROOT / "README.md"
EVIDENCE = RESULTS / "README.md"
WALK = ROOT / "kernels" / "ladder" / "README.md"
DEVICES = ROOT / "docs" / "devices.md"
PRECISION = ROOT / "docs" / "precision.md"
CHART = RESULTS / "ladder.svg"
ACCURACY_CHART = RESULTS / "accuracy.svg"

# Result file of `duogemm accuracy`, and what docs/precision.md shows of it: one K, and some contenders.
ACCURACY = ("h200_accuracy_cuda.json", 4096, ["fp32", "bf16x6", "f16x3", "cuBLAS", "cuBLAS-TF32"])

# Result file of `duogemm compare`, backend of the run, and what it measured.
COMPARISONS = [
    ("h200_compare_cuda.json", "cuda", "H200, CUDA"),
    ("h200_compare_heldout_20261204_graph.json", "cuda", "H200, CUDA, drawn at random, in a graph"),
    ("h200_compare_heldout_graph.json", "cuda", "H200, CUDA, drawn last, in a graph"),
    ("h200_compare_heldout_20261229_both.json", "opencl", "H200, OpenCL, drawn last"),
    ("h100_compare_cuda.json", "cuda", "H100, CUDA"),
    ("h100_compare_heldout_20261218_graph.json", "cuda", "H100, CUDA, drawn at random, in a graph"),
    ("h100_compare_heldout_20261226_graph.json", "cuda", "H100, CUDA, drawn anew, in a graph"),
    ("h200_compare_f16x3.json", "cuda", "H200, CUDA, f16x3"),
    ("h200_compare_bf16x6.json", "cuda", "H200, CUDA, bf16x6"),
    ("h100_compare_f16x3.json", "cuda", "H100, CUDA, f16x3"),
    ("h100_compare_bf16x6.json", "cuda", "H100, CUDA, bf16x6"),
    ("h200_compare_lists_f16x3.json", "cuda", "H200, CUDA, f16x3"),
    ("h200_compare_graph.json", "cuda", "H200, CUDA, in a graph"),
    ("h200_compare_everywhere.json", "cuda", "H200, CUDA, same bits everywhere"),
    ("h100_compare_both.json", "opencl", "H100, OpenCL"),
    ("cpu_compare.json", "opencl", "CPU, drop-in BLAS on PoCL"),
    ("cpu_compare_heldout.json", "opencl", "CPU, drop-in BLAS on PoCL, drawn at random"),
    ("cpu_compare_callers.json", "opencl", "CPU, drop-in BLAS on PoCL, eight threads at once"),
]

# What the README shows of them: how it calls the problems, result file, backend of the run, list (empty: all), and the other library.
SUMMARY = [
    ("squares from 64 to 16384, H200, CUDA", "h200_compare_cuda.json", "cuda", "squares", "cuBLAS"),
    ("all eight lists, H200, CUDA", "h200_compare_cuda.json", "cuda", "", "cuBLAS"),
    ("shapes drawn at random, H200, CUDA, in a graph", "h200_compare_heldout_graph.json", "cuda", "heldout", "cuBLAS"),
    ("shapes drawn at random, H100, CUDA, in a graph", "h100_compare_heldout_20261226_graph.json", "cuda", "heldout", "cuBLAS"),
    ("squares from 1024 to 16384 by `f16x3`, H200, CUDA", "h200_compare_f16x3.json", "cuda", "sizes", "cuBLAS"),
    ("squares from 1024 to 16384 by `bf16x6`, H200, CUDA", "h200_compare_bf16x6.json", "cuda", "sizes", "cuBLAS"),
    ("three lists, H100, OpenCL", "h100_compare_both.json", "opencl", "", "CLBlast"),
    ("plain arrays, CPU, drop-in BLAS on PoCL", "cpu_compare.json", "opencl", "cpu", "OpenBLAS"),
]

# How the table calls a trace, and the name of its file.
PROGRAMS = [
    ("LU of 8192 in blocks of 128: 63 updates, each smaller", "lu"),
    ("Cholesky of 4096 in blocks of 128: 496 updates", "cholesky"),
    ("attention decode, 512 steps: 1024 calls", "attention_decode"),
    ("prefill of mixed lengths: 144 calls", "prefill"),
    ("1024 x 16 x 1024, 300 times, each with another alpha", "new_alphas"),
    ("500 random shapes of 32 to 511", "small_shapes"),
    ("1000 random shapes of all kinds", "any_shapes"),
]

# Squares by tensor cores: their sizes; the precision, a result file for each device, and what was hoped for.
SIZES = [1024, 2048, 4096, 8192, 16384]
PRECISIONS = [
    ("f16x3", {"H200": "h200_compare_f16x3.json", "H100": "h100_compare_f16x3.json"}, [80, 155, 178, 186, 186]),
    ("bf16x6", {"H200": "h200_compare_bf16x6.json", "H100": "h100_compare_bf16x6.json"}, [60, 105, 112, 113, 112]),
]

# Column title, result file of `duogemm ladder`, backend of its run, and result file of `duogemm explain`.
COLUMNS = [
    ("H200, CUDA", "h200_both.json", "cuda", "h200_explain.json"),
    ("H200, OpenCL", "h200_both.json", "opencl", "h200_explain.json"),
    ("CPU, OpenCL (PoCL)", "cpu_opencl.json", "opencl", "cpu_explain.json"),
]


def load(name, kind="ladder"):
    document, found = results.load(RESULTS / name)
    assert found == kind, name
    return document


def load_run(name, backend):
    """The run of a ladder's result file through a backend."""
    (run,) = (run for run in load(name)["runs"] if run["device"]["backend"] == backend)
    return run


def label(row, rows):
    extra = results.setting(row, results.first_of_rung(row, rows))
    return row["idea"] + (f" ({extra})" if extra else "")


def table(runs):
    rows = runs[0]["rows"]
    by_key = [{results.key(r): r for r in run["rows"]} for run in runs]
    lines = ["| rung | idea | " + " | ".join(title for title, *_ in COLUMNS) + " |",
             "| --- | --- |" + " ---: |" * len(COLUMNS)]
    for row in rows:
        cells = []
        for run, found in zip(runs, by_key):
            other = found.get(results.key(row))
            if other is None:
                cells.append("")
                continue
            if "unsupported" in other:
                cells.append("not supported")
                continue
            share = f" ({100 * other['gflops'] / run['reference']['gflops']:.0f}%)" if run["reference"] else ""
            cells.append(results.speed_text(other["gflops"]) + share)
        lines.append(f"| {row['rung']} | {label(row, rows)} | " + " | ".join(cells) + " |")
    reference = [f"{run['reference']['gflops']:,.0f} ({run['reference']['name']})" if run["reference"] else "none"
                 for run in runs]
    peak = [f"{run['peak_gflops']:,.0f}" for run in runs]
    lines.append("| | cuBLAS, OpenBLAS | " + " | ".join(reference) + " |")
    lines.append("| | measured peak | " + " | ".join(peak) + " |")
    return "\n".join(lines) + "\n"


def captions(runs):
    return "".join(f"{results.device_caption(run)}; {results.size_caption(run)} ({title}).  \n"
                   for run, (title, *_) in zip(runs, COLUMNS))


def comparison_table():
    lines = ["| device | list | other | shapes | mean | worst | at |", "| --- | --- | --- | ---: | ---: | ---: | --- |"]
    for name, backend, title in COMPARISONS:
        for run in load(name, "compare")["runs"]:
            if run["device"]["backend"] != backend:
                continue
            lists = {row["list"] for row in run["summary"] if row["list"]}
            # Of a single list, the row of all lists says the same once more.
            for row in (r for r in run["summary"] if r["shapes"] > 0 and (r["list"] or len(lists) > 1)):
                lines.append(f"| {title} | {row['list'] or 'all of these'} | {row['title']} | {row['shapes']} | "
                             f"{row['geometric_mean']:.2f} | {row['worst']:.2f} | {row['worst_label'].split('/')[-1]} |")
    return "\n".join(lines) + "\n"


def summary_table():
    lines = ["| problems | shapes | beside | mean | worst |", "| --- | ---: | --- | ---: | ---: |"]
    for problems, name, backend, wanted, title in SUMMARY:
        (run,) = (run for run in load(name, "compare")["runs"] if run["device"]["backend"] == backend)
        (row,) = (row for row in run["summary"] if (row["list"] or "") == wanted and row["title"] == title)
        lines.append(f"| {problems} | {row['shapes']} | {title} | {row['geometric_mean']:.2f} | {row['worst']:.2f} |")
    return "\n".join(lines) + "\n"


def excerpt():
    """A few lines of what `duogemm ladder` prints."""
    run = load_run("h200_both.json", "cuda")
    reference = run["reference"]
    first = {row["rung"]: row for row in reversed(run["rows"]) if "gflops" in row}
    rows = [(rung, first[rung]["kernel"], first[rung]["gflops"], "ok" if first[rung]["ok"] else "WRONG")
            for rung in ("1", "2", "3", "6", "7", "13", "duogemm")]
    rows.append(("", "cuBLAS", reference["gflops"], reference["name"]))
    lines = ["```", "rung     kernel         GFLOP/s  of cuBLAS  status"]
    lines += [f"{rung:8} {kernel:14} {gflops:7.1f}  {gflops / reference['gflops']:9.1%}  {status}"
              for rung, kernel, gflops, status in rows]
    return "\n".join([*lines, "```"]) + "\n"


def programs_table():
    """Wall times of whole programs: the first pass of a process with nothing on disk, and later ones."""
    traces = {trace["trace"]: trace for trace in load("h200_replay_cuda.json", "replay")["traces"]}
    lines = ["| wall time of a whole program in ms, H200, CUDA | cuBLAS, first | again | duogemm, first | again |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for title, name in PROGRAMS:
        walls = [traces[name][whose][when]["wall_s"] for whose in ("other", "ours") for when in ("first", "again")]
        lines.append(f"| {title} | " + " | ".join(f"{1000 * seconds:.1f}" for seconds in walls) + " |")
    return "\n".join(lines) + "\n"


def precisions_table():
    lines = ["| | " + " | ".join(map(str, SIZES)) + " |", "| --- |" + " ---: |" * len(SIZES)]
    for precision, files, goals in PRECISIONS:
        for device, name in files.items():
            (run,) = load(name, "compare")["runs"]
            speeds = {row["m"]: f"{row['gflops'] / 1000:.1f}" for row in run["rows"]}
            lines.append(f"| {precision}, {device} | " + " | ".join(speeds.get(size, "") for size in SIZES) + " |")
        lines.append("| goal | " + " | ".join(map(str, goals)) + " |")
    return "\n".join(lines) + "\n"


def accuracy_table():
    name, k, wanted = ACCURACY
    head, *rows = errors_of(load(name, "accuracy"), k, wanted)
    lines = [head, ["---", *["---:"] * len(wanted)], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def errors_of(document, k, wanted):
    """The largest error of each contender, a row for each kind of matrices; the first tells whose they are."""
    rows = [["largest error", *(f"`{title}`" if title in document["precisions"] else title for title in wanted)]]
    for row in (row for row in document["rows"] if row["k"] == k):
        units = {error["title"]: error.get("largest") for error in row["errors"]}
        rows.append([row["about"], *("not finite" if units[title] is None else error_text(units[title]) for title in wanted)])
    return rows


def error_text(units):
    return f"{units:.2f}" if units < 100 else f"{units:,.0f}"


def tutorial():
    """The K40m's GFLOP/s of 2014 by rung, and cuBLAS's, which the program shows with --tutorial."""
    text = (ROOT / "bench" / "ladder" / "ladder_tables.cpp").read_text()
    figures = {rung: float(value) for rung, value in re.findall(r'\{"(\d+)", (\d+)\}', text)}
    (cublas,) = re.findall(r"tutorial_cublas = (\d+);", text)
    return figures, float(cublas)


class Walk:
    """The tables of kernels/ladder/README.md: for each rung what was measured, and what `explain` shows."""

    def __init__(self, runs):
        self.runs = runs
        self.explained = [self.explanations(backend, name) for _, _, backend, name in COLUMNS]
        self.k40m, self.cublas_of_2014 = tutorial()

    @staticmethod
    def explanations(backend, name):
        """The kernels of a file by kernel and tunables."""
        kernels = load(name, "explain")["kernels"]
        return {results.key(kernel): kernel for kernel in kernels if kernel["backend"] == backend}

    def rows_of(self, rung):
        return [row for row in self.runs[0]["rows"] if row["rung"] == rung]

    def gflops(self, place, row):
        """None where the run has no such row, or its device does not support it."""
        return next((r.get("gflops") for r in self.runs[place]["rows"] if results.key(r) == results.key(row)), None)

    def line(self, title, cell, last="", row=None):
        cells = [cell(place) for place in range(len(self.runs))]
        return [f"| {title} | " + " | ".join(cells) + f" | {last} |"] if any(cells) or last else []

    def measured(self, row, title):
        k40m = self.k40m.get(row["rung"]) if row is self.rows_of(row["rung"])[0] else None
        def cell(place):
            gflops = self.gflops(place, row)
            return results.speed_text(gflops) if gflops else ""
        return self.line(title, cell, f"{k40m:.0f}" if k40m else "")

    def of_reference(self, row):
        def cell(place):
            reference = self.runs[place]["reference"]
            gflops = self.gflops(place, row)
            return f"{100 * gflops / reference['gflops']:.0f}%" if reference and gflops else ""
        k40m = self.k40m.get(row["rung"])
        return self.line("of cuBLAS's or OpenBLAS's speed", cell, f"{100 * k40m / self.cublas_of_2014:.0f}%" if k40m else "")

    def against_before(self, row):
        """Beside the nearest rung before that runs where this one does."""
        places = [place for place in range(len(self.runs)) if self.gflops(place, row)]
        earlier = map(str, range(int(row["rung"]) - 1, 0, -1)) if row["rung"].isdigit() else []
        before = next((rung for rung in earlier if any(self.gflops(place, self.rows_of(rung)[0]) for place in places)), None)
        if before is None:
            return []
        first = self.rows_of(before)[0]
        last = f"{self.k40m[row['rung']] / self.k40m[before]:.2f}" if row["rung"] in self.k40m else ""
        def cell(place):
            gflops, other = self.gflops(place, row), self.gflops(place, first)
            return f"{gflops / other:.2f}" if gflops and other else ""
        return self.line(f"times rung {before}", cell, last)

    def explain_line(self, title, text):
        def cell(row):
            return lambda place: text(self.explained[place][results.key(row)]) if results.key(row) in self.explained[place] else ""
        return lambda row: self.line(title, cell(row))

    def rung(self, rung):
        rows = self.rows_of(rung)
        titles = [title for title, *_ in COLUMNS] + ["K40m, 2014"]
        lines = ["| | " + " | ".join(titles) + " |", "| --- |" + " ---: |" * len(titles)]
        lines += self.measured(rows[0], "GFLOP/s")
        for row in rows[1:]:
            lines += self.measured(row, "with " + results.setting(row, rows[0]))
        lines += self.of_reference(rows[0]) + self.against_before(rows[0])
        for title, text in EXPLAINED:
            lines += self.explain_line(title, text)(rows[0])
        return "\n".join(lines) + "\n"


def per_multiply_add(kernel, *kinds):
    loop = kernel["loop"]["kinds"]
    return f"{sum(loop[kind]['instructions'] for kind in kinds) / loop['multiply_add']['instructions']:.3f}"


def share(kernel):
    loop = kernel["loop"]
    return f"{100 * loop['kinds']['multiply_add']['instructions'] / loop['instructions']:.0f}%"


def loads(kernel):
    on_cpu = kernel["language"] == "x86-64"
    return per_multiply_add(kernel, *(("global_load", "stack_load") if on_cpu else ("local_load",)))


def vector(kernel):
    values = kernel["loop"]["multiply_adds"] / kernel["loop"]["kinds"]["multiply_add"]["instructions"]
    return f"{values:.0f}" if kernel["language"] == "x86-64" else ""


def registers(kernel):
    found = kernel["resources"]
    if found["resident_groups"] is None:
        return ""
    return f"{found['registers']}; {found['resident_groups']} of {found['local_size'][0] * found['local_size'][1]} ({found['limited_by']})"


def bound(kernel):
    return f"{results.speed_text(kernel['bounds'][0]['gflops'])} ({kernel['bounds'][0]['name']})" if kernel["bounds"] and kernel["language"] != "x86-64" else ""


# What is shown of an explanation.
EXPLAINED = [
    ("multiply-adds among the main loop's instructions", share),
    ("loads for each of them: local ones, on a CPU all", loads),
    ("global loads for each of them", lambda k: per_multiply_add(k, "global_load") if k["language"] != "x86-64" else ""),
    ("values in a multiply-add", vector),
    ("registers; work-groups on a multiprocessor, of work-items (limit)", registers),
    ("lowest bound, GFLOP/s", bound),
]


def draw(runs):
    import ladder_figures
    import style
    figure, axes = style.plt.subplots(1, 2, figsize=(2.2 * style.WIDTH, 7.5))
    for axis, members, first in ((axes[0], (0, 1), 0), (axes[1], (2,), 2)):
        chosen = [runs[m] for m in members]
        style.name_bars(axis, ladder_figures.names_of(chosen[0]["rows"]))
        ladder_figures.draw_climb(axis, chosen, [COLUMNS[m][0] for m in members], first)
        axis.set_title(f"{chosen[0]['device']['name'].strip()}; {results.size_caption(chosen[0])}", fontsize=8.5)
        axis.legend(loc="upper center", bbox_to_anchor=(0.4, -0.1), ncol=len(chosen), frameon=False)  # where it hides no speed
    figure.tight_layout()
    style.save(figure, CHART)


def draw_accuracy():
    import accuracy_figures
    import style
    name, k, wanted = ACCURACY
    figure, axis = accuracy_figures.overview(load(name, "accuracy"), k, wanted)
    style.save(style.finish(figure, axis, 3), ACCURACY_CHART)


class Devices:
    """One table of every device that a result file of `duogemm ladder` or `duogemm compare` has measured."""

    HEADS = ["device", "runtime", "driver", "M=N=K", "fastest rung", "duogemm", "cuBLAS, OpenBLAS", "measured peak", "file"]

    def __init__(self):
        self.ladders, self.comparisons = [], []
        for path in results.recorded(RESULTS):
            document, kind = results.load(path)
            runs = self.ladders if kind == "ladder" else self.comparisons
            # What was measured as the ladder measures.
            if kind == "ladder" or kind == "compare" and not document["graph"] and document["level"] == "run_to_run":
                noted = {"date": document["date"], "precision": document.get("precision", "fp32")}
                runs += [(path.name, {**run, **noted}) for run in document["runs"]]

    @staticmethod
    def same(run, other):
        return all(run["device"][member] == other["device"][member] for member in ("name", "backend"))

    def own(self, run):
        """duogemm's own speed at a ladder's problem, and the file: its row, or else the newest comparison on the same device."""
        for row in run["rows"]:
            if ladder_table.is_own(row) and "gflops" in row:
                return row["gflops"], None
        found = [(other["date"], row["gflops"], name) for name, other in self.comparisons
                 if self.same(run, other) and other["precision"] == "fp32" for row in self.squares(other) if row["m"] == run["m"] == run["n"] == run["k"]]
        return max(found)[1:] if found else (None, None)

    @staticmethod
    def squares(run):
        return [row for row in run["rows"] if row["m"] == row["n"] == row["k"] and row["batch"] == 1 and row["ops"] == "NN" and row.get("gflops")]

    def ladder_line(self, name, run):
        rungs = [row for row in run["rows"] if row["rung"].isdigit() and row.get("ok")]
        fastest = max(rungs, key=lambda row: row["gflops"])
        own, file = self.own(run)
        reference = f"{results.speed_text(run['reference']['gflops'])} ({run['reference']['name']})" if run["reference"] else ""
        rung = f"{results.speed_text(fastest['gflops'])} ({results.name(fastest)}{results.short_setting(fastest, run['rows'])}" \
               f"{self.switched(run)})"
        return self.line(run, run["m"], rung, results.speed_text(own) if own else "", reference, results.speed_text(run["peak_gflops"]), name, file)

    @staticmethod
    def switched(run):
        """Switches that stand otherwise than a build has them by itself."""
        usual = ("USE_LDG=1", "USE_SHUFFLE=0")
        return "".join(f", {switch}" for switch in results.switches(run["rows"]).split() if switch not in usual)

    def comparison_line(self, name, run):
        """Of a device that has no ladder: its fastest square, beside a library's FP32."""
        row = max(self.squares(run), key=lambda row: row["gflops"])
        others = [(result["ratio"], other["name"]) for result, other in zip(row["others"], run["others"])
                  if result.get("ratio") and other["name"].split()[0] in ("cuBLAS", "OpenBLAS")]
        reference = ", ".join(f"{results.speed_text(row['gflops'] / ratio)} ({title})" for ratio, title in others)
        own = results.speed_text(row["gflops"]) + ("" if run["precision"] == "fp32" else f" by `{run['precision']}`")
        return self.line(run, row["m"], "", own, reference, "", name, None)

    @staticmethod
    def line(run, size, *cells):
        *speeds, name, file = cells
        files = ", ".join(f"[{found}](../bench/results/{found})" for found in filter(None, (name, file)))
        texts = [run["device"]["name"].strip(), run["device"]["runtime"], results.driver(run), str(size), *speeds, files]
        return "| " + " | ".join(texts) + " |"

    def table(self):
        lines = ["| " + " | ".join(self.HEADS) + " |", "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"]
        lines += [self.ladder_line(name, run) for name, run in self.ladders]
        without = [(name, run) for name, run in self.comparisons
                   if self.squares(run) and not any(self.same(run, ladder) for _, ladder in self.ladders)]
        return "\n".join(lines + [self.comparison_line(name, run) for name, run in without]) + "\n"


def blocks(runs):
    """For each file its generated parts, by the names that stand in its comments."""
    walk = Walk(runs)
    rungs = list(dict.fromkeys(row["rung"] for row in runs[0]["rows"] if not ladder_table.is_own(row)))
    return {
        README: {"excerpt": excerpt(), "summary": summary_table()},
        PRECISION: {"accuracy": accuracy_table()},
        EVIDENCE: {"comparison": comparison_table(), "programs": programs_table(), "precisions": precisions_table()},
        DEVICES: {"devices": Devices().table()},
        WALK: {"table": table(runs) + "\n" + captions(runs), **{f"rung {rung}": walk.rung(rung) for rung in rungs}},
    }


def replaced(path, text, name, content, check):
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{path.relative_to(ROOT)} has no place for {name}")
    before, rest = text.split(begin)
    present, after = rest.split(end)
    if check and present != content:
        sys.exit(f"{path.relative_to(ROOT)}: {name} is not what bench/results/ says: run tools/readme_figures.py")
    return before + begin + content + end + after


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    runs = [load_run(name, backend) for _, name, backend, _ in COLUMNS]
    if not arguments.check:
        draw(runs)
        draw_accuracy()
    for path, parts in blocks(runs).items():
        text = path.read_text()
        for name, content in parts.items():
            text = replaced(path, text, name, content, arguments.check)
        if not arguments.check:
            path.write_text(text)


if __name__ == "__main__":
    main()
