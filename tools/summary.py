#!/usr/bin/env python3
"""Keeps result files as summaries in bench/results, and makes from these what pages show.

  tools/summary.py add --command WORDS RESULT.json FOLDER   writes a summary for each run into the folder
  tools/summary.py pages                                    writes the two tables, the walk's excerpts of kernels, and the two pictures
                                                            (which need matplotlib)
  tools/summary.py pages --check                            only says whether tables and excerpts are right

A summary is a table with tabs: lines with # tell what was measured, then come the names of the columns, then a row a line. Where there is a
column `spread`, the columns after it are the other's time over duogemm's.
"""

import argparse
import itertools
import math
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench" / "plots"))

import excerpts  # noqa: E402
import results  # noqa: E402

RESULTS = ROOT / "bench" / "results"

# Lines of the README's table: how it calls the problems, the summary, its list (empty: all of them), and the other library.
HIGHLIGHTS = [
    ("squares from 64 to 16384, H200, CUDA", "h200_compare_cuda", "squares", "cuBLAS"),
    ("all eight lists, H200, CUDA", "h200_compare_cuda", "", "cuBLAS"),
    ("all eight lists, H100, CUDA", "h100_compare_cuda", "", "cuBLAS"),
    ("shapes drawn at random, H200, CUDA, in a graph", "h200_compare_heldout_graph", "", "cuBLAS"),
    ("squares from 1024 to 16384 by `f16x3`, H200, CUDA", "h200_compare_f16x3", "", "cuBLAS"),
    ("three lists, H200, OpenCL", "h200_compare_both", "", "CLBlast"),
    ("shapes drawn at random, two cores with AVX-512", "cpu_drawn_2_threads", "", "OpenBLAS"),
    ("shapes drawn at random, two cores with AVX2", "cpu_avx2_drawn_2_threads", "", "OpenBLAS"),
    ("unchanged programs by `duogemm run`, H100", "h100_programs", "fp32", "cuBLAS"),
    ("unchanged programs by `duogemm run` and `f16x3`, H100", "h100_programs", "f16x3", "cuBLAS"),
    ("whole traces from the first call on, H200, CUDA", "h200_replay_cuda", "first", "cuBLAS"),
]


def number(value):
    """To four digits."""
    return "" if value is None else f"{float(f'{value:.4g}'):.12g}"


def spread_of(samples):
    first, median, third = results.quartiles(samples)
    return (third - first) / median


def timed(group, row, problem, flops, seconds, spread, ratios):
    """Cells of a row that was timed; the names of its columns are the keys."""
    speed = {"gflops": number(flops / seconds / 1e9)} if flops else {}
    return {"list": group, "row": row, "problem": problem, **speed, "us": number(1e6 * seconds), "spread": number(spread),
            **{title: number(ratio) for title, ratio in ratios.items()}}


def kernel_of(row):
    """A kernel and its tunables."""
    return " ".join([results.name(row), *(f"{name}={value}" for name, value in row["tunables"].items())])


def rung_row(row, size, name, gflops):
    """name, gflops: of the other library."""
    m, n, k = (size[member] for member in "mnk")
    ratios = {name.split()[0]: row["gflops"] / gflops} if gflops else {}
    return timed("", kernel_of(row), f"{m} {n} {k}", 2 * m * n * k, row["time"]["median_s"], row["time"]["spread"], ratios)


def ladder(document):
    for run in document["runs"]:
        other = run["reference"] or {"name": "", "gflops": 0}
        about = {"peak": f"{run['peak_gflops']:.0f} GFLOP/s, measured", "other": other["name"] and f"{other['name']}, {other['gflops']:.0f} GFLOP/s"}
        yield run, about, [rung_row(row, run, other["name"], other["gflops"]) for row in run["rows"] if "time" in row]


def sweep(document):
    points = [point for point in document["points"] if "time" in point.get("row", {})]
    yield document, {"other": document["reference"]}, [
        rung_row(point["row"], point, document["reference"], point["reference_gflops"]) for point in points]


def names(others):
    return ", ".join(dict.fromkeys(other["name"] for other in others))


def shape(row):
    """As a list of shapes has it."""
    return f"{row['m']} {row['n']} {row['k']} {row['ops']}" + (f" batch={row['batch']}" if row["batch"] != 1 else "")


def compare(document):
    for run in (run for run in document["runs"] if run["others"]):  # one without is in the ratios of another
        yield run, {"others": names(run["others"])}, [
            timed(row["list"] or "", row["label"], shape(row), 2 * row["m"] * row["n"] * row["k"] * row["batch"], row["time"]["median_s"],
                  row["time"]["spread"], {other["title"]: other.get("ratio") for other in row["others"]})
            for row in run["rows"] if row.get("time")]


def accuracy(document):
    rows = []
    for row in document["rows"]:
        cells = {"list": row["about"], "row": f"K={row['k']}", "bound": number(row["bound"])}
        cells.update({error["title"]: number(error.get("largest")) for error in row["errors"]})
        cells.update({f"{error['title']}, us": number(1e6 * error["seconds"]) for error in row["errors"] if "seconds" in error})
        rows.append(cells)
    problem = f"M=N={document['m']}; largest errors in units of 2^-24 |A||B|"
    yield document, {"problem": problem, "others": names(document["others"])}, rows


# What the host takes for a call, and for a call with a new problem.
HOST_TIMES = {"call us": "call_median_s", "new us": "new_median_s", "new 99% us": "new_p99_s"}


def replay(document):
    rows = []
    for trace, name in itertools.product(document["traces"], ("first", "disk", "warmed", "again")):
        if name not in trace["ours"]:
            continue
        ours, other = trace["ours"][name], (trace["other"] or {}).get("again" if name == "again" else "first")
        host = {title: number(1e6 * ours[member]) for title, member in HOST_TIMES.items()}
        calls = f"{trace['calls']} calls, {trace['different']} different"
        cells = timed(name, trace["trace"], calls, 0, ours["wall_s"], spread_of(ours["walls_s"]),
                      {trace["title"]: other["wall_s"] / ours["wall_s"]} if other else {})
        rows.append({**{title: cells[title] for title in ("list", "row", "problem")}, **host, **cells})
    yield document, {"others": names(trace["other"] for trace in document["traces"] if trace["other"])}, rows


def explain(document):
    for entry in document["devices"]:
        backend = entry["device"]["backend"]
        kernels = [kernel for kernel in document["kernels"] if kernel["backend"] == backend and kernel["loop"]]
        rows = []
        for kernel in kernels:
            kinds, found = kernel["loop"]["kinds"], kernel["resources"]
            fma = kinds["multiply_add"]["instructions"]
            lowest = kernel["bounds"][0] if kernel["bounds"] else {"name": "", "gflops": None}
            rows.append({"row": kernel_of(kernel), "gflops": number(kernel["gflops"]), "lowest bound": number(lowest["gflops"]),
                         "set by": lowest["name"], "multiply-adds of all": number(fma / kernel["loop"]["instructions"]),
                         "values in each": number(kernel["loop"]["multiply_adds"] / fma),
                         "local loads for each": number(kinds["local_load"]["instructions"] / fma),
                         "global loads for each": number(kinds["global_load"]["instructions"] / fma),
                         "registers": number(found["registers"]), "work-groups": number(found["resident_groups"]),
                         "limited by": found["limited_by"] or ""})
        language = ", ".join(dict.fromkeys(kernel["language"] for kernel in kernels))
        yield entry, {"problem": results.size_caption(document), "language": language}, rows


def programs(document):
    rows = [timed(contender["name"], program["about"], program["libraries"], 0, 1e-3 * contender["median_ms"], contender["spread"],
                  {program["contenders"][0]["name"]: contender["ratio"]})
            for program in document["programs"] for contender in program["contenders"][1:]]
    yield {"device": {"name": document["programs"][0]["device"], "runtime": "CUDA"}}, {}, rows


def python(document):
    rows = [{"list": row["case"], "row": row["contender"], "us": number(1e6 * row["median_s"]), "gflops": number(row.get("gflops")),
             "spread": number(spread_of(row["seconds"]))} for row in document["rows"]]
    others = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    yield {"device": {"name": document["device"], "runtime": "CUDA"}}, {"what": document["what"], "others": others}, rows


KINDS = {f"duogemm.{kind.__name__}/1": kind for kind in (ladder, compare, sweep, accuracy, replay, explain, programs, python)}


def add(path, command, folder):
    document = results.parse(path)
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema not in KINDS:
        raise results.BadFile(f"{path}: its schema is {schema!r}; known are " + ", ".join(KINDS))
    runs = list(KINDS[schema](document))
    for run, about, rows in runs:
        device = run["device"]
        driver = f", driver {results.driver(run)}" if "driver" in device else ""
        head = {"command": command, "date": document["date"][:10], "duogemm": document.get("version", ""),
                "device": f"{device['name'].strip()}, {device['runtime']}{driver}", **about}
        columns = list(dict.fromkeys(name for row in rows for name, cell in row.items() if cell or name == "list"))
        lines = [f"# {name}: {value}" for name, value in head.items() if value]
        lines += ["\t".join(columns), *("\t".join(row.get(name, "") for name in columns) for row in rows)]
        name = pathlib.Path(path).stem + (f"_{device['backend']}" if len(runs) > 1 else "")
        results.write(pathlib.Path(folder) / f"{name}.tsv", ("\n".join(lines) + "\n").encode())


def read(name):
    """What was measured, the names of the columns, and the rows by these."""
    lines = (RESULTS / f"{name}.tsv").read_text().splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    columns, *rows = (line.split("\t") for line in lines if not line.startswith("# "))
    return head, columns, [dict(zip(columns, row)) for row in rows]


def answer(rows, other):
    """How many rows there are, their mean and the smallest."""
    ratios = [float(row[other]) for row in rows if row.get(other)]
    return len(ratios), math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios)


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def table(head, lines):
    """Columns stand to the right where they hold nothing but numbers."""
    numbers = [all(line[index].replace(".", "").isdigit() for line in lines) for index in range(len(head))]
    rows = [head, ["---:" if number else "---" for number in numbers], *lines]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def highlights():
    lines = []
    for problems, name, wanted, other in HIGHLIGHTS:
        count, mean, worst = answer([row for row in read(name)[2] if wanted in ("", row["list"])], other)
        lines.append([problems, str(count), other, ratio_text(mean), ratio_text(worst)])
    return table(["problems", "count", "other", "mean", "worst"], lines)


def comparisons():
    """A line for each run: against each other library all lists of a comparison together, and against the first each list, too."""
    lines = []
    for path in sorted(RESULTS.glob("*.tsv")):
        head, columns, rows = read(path.stem)
        lists = list(dict.fromkeys(row.get("list") for row in rows))
        others = columns[columns.index("spread") + 1:] if "spread" in columns and all(lists) else []
        together = len(lists) == 1 or head["command"].startswith("duogemm compare")
        words = []
        for other in others:
            answers = [("", *answer(rows, other))] if together else []
            if len(lists) > 1 and (other == others[0] or not together):
                answers += [(f"{wanted} ", *answer([row for row in rows if row["list"] == wanted], other)) for wanted in lists]
            words.append(f"{other} " + ", ".join(f"{wanted}{ratio_text(mean)} ({ratio_text(worst)})" for wanted, _, mean, worst in answers))
        if words:
            count = answer([row for row in rows if together or row["list"] == lists[0]], others[0])[0]
            lines.append([f"[{path.stem}]({path.name})", str(count), "; ".join(words)])
    return table(["run", "count", "mean (worst)"], lines)


def replaced(path, name, content):
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    text = path.read_text()
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{path.relative_to(ROOT)} has no place for the table {name}")
    return text[:text.index(begin)] + begin + content + text[text.index(end):]


def mark_steps(axis, speeds, ends):
    """How many times as fast each rung is as the one before, where that is more than a tenth. ends: of the longest bar of each."""
    import style
    for i, (before, speed) in enumerate(zip(speeds, speeds[1:]), 1):
        if abs(speed / before - 1) > 0.1:
            axis.annotate(f"\u00d7{speed / before:.1f}", (ends[i], i), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8.5,
                          fontweight="bold" if speed > before else "normal", bbox=style.PAPER)


def runtime_of(device):
    """By a summary's line of the device."""
    return "CUDA" if "CUDA toolkit" in device else "WebGPU" if "WebGPU" in device else "OpenCL"


def draw_ladder(folder):
    """What each rung reaches on two devices, in its first setting, and the steps from one to the next."""
    import style
    figure, axes = style.plt.subplots(1, 2, figsize=(2.2 * style.WIDTH, 6))
    for axis, names in zip(axes, (["h200_ladder_cuda", "h200_ladder_opencl", "h200_ladder_webgpu"], ["cpu_ladder"])):
        found = [read(name) for name in names]
        rungs = list(dict.fromkeys(" ".join(row["row"].split()[:2]) for row in found[0][2]))
        style.name_bars(axis, rungs)
        first = [{" ".join(row["row"].split()[:2]): float(row["gflops"]) for row in reversed(rows)} for _, _, rows in found]
        speeds = [[of_run.get(rung, 0) for rung in rungs] for of_run in first]
        for index, (head, _, _) in enumerate(found):
            height = 0.8 / len(found)
            runtime = runtime_of(head["device"])
            axis.barh([i + (index - (len(found) - 1) / 2) * height for i in range(len(rungs))], speeds[index], height, label=runtime,
                      **style.bar_style(["CUDA", "OpenCL", "WebGPU"].index(runtime)))
        climbed = [speed for rung, speed in zip(rungs, speeds[0]) if rung[0].isdigit()]
        mark_steps(axis, climbed, list(map(max, zip(*speeds))))
        for line, name in (("--", "other"), (":", "peak")):
            if name in found[0][0]:
                title = found[0][0][name].split(",")[0] if name == "other" else "measured peak"
                speed = float(found[0][0][name].split(" GFLOP")[0].split(" ")[-1])
                axis.axvline(speed, color="black", linestyle=line, linewidth=1.2, label=f"{title}: {speed:,.0f}")
        axis.set_xlabel("GFLOP/s")
        style.count_speeds(axis)
        axis.set_title(f"{found[0][0]['device'].split(',')[0]}; M=N=K={found[0][2][0]['problem'].split()[0]}", fontsize=8.5)
        axis.legend(loc="upper center", bbox_to_anchor=(0.4, -0.12), ncol=2, frameon=False)
    figure.tight_layout()
    style.save(figure, folder / "ladder.svg")


def draw_accuracy(folder, k=4096, wanted=("fp32", "bf16x6", "f16x3", "cuBLAS", "cuBLAS-TF32")):
    """The largest errors at one K. An error of zero has no place on a logarithmic scale."""
    import style
    head, _, rows = read("h200_accuracy")
    rows = [row for row in rows if row["row"] == f"K={k}"]
    figure, axis = style.bars_figure([row["list"] for row in rows])
    for index, title in enumerate(wanted):
        points = [(float(row[title]), i) for i, row in enumerate(rows) if float(row[title] or 0)]
        axis.plot([units for units, _ in points], [i for _, i in points], label=title, **{**style.line_style(index), "linestyle": "none"})
    axis.axvline(float(rows[0]["bound"]), color="#808080", linewidth=1, label="bound")
    axis.set_xscale("log")
    axis.set_xlabel("largest error in units of 2^-24 |A||B|")
    style.title(axis, f"K={k}, {head['problem'].split(';')[0]}", head["device"])
    style.save(style.finish(figure, axis, "", 3)[0], folder / "accuracy.svg")


def pages(check):
    tables = [(path, "bench/results says", replaced(path, name, content)) for path, name, content in (
        (ROOT / "README.md", "summary", highlights()), (RESULTS / "README.md", "comparisons", comparisons()))]
    for path, whose, wanted in [*tables, (excerpts.WALK, "the kernels say", excerpts.walk())]:
        if not check:
            path.write_text(wanted)
        elif path.read_text() != wanted:
            sys.exit(f"{path.relative_to(ROOT)} is not what {whose}: run tools/summary.py pages")
    with tempfile.TemporaryDirectory() as folder:
        for draw in (draw_ladder, draw_accuracy):
            draw(pathlib.Path(folder) if check else RESULTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    adding = commands.add_parser("add")
    adding.add_argument("--command", required=True, help="what measured it")
    adding.add_argument("result")
    adding.add_argument("folder", nargs="?", default=RESULTS)
    commands.add_parser("pages").add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    try:
        if arguments.what == "add":
            add(arguments.result, arguments.command, arguments.folder)
        else:
            pages(arguments.check)
    except results.BadFile as error:
        sys.exit(f"tools/summary.py: {error}")
    except ModuleNotFoundError:
        print("tools/summary.py: the pictures need matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        sys.exit(77)  # a test is skipped then


if __name__ == "__main__":
    main()
