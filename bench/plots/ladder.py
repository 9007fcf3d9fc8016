"""Ladders: for each rung how fast, how much faster than before, and what limits it; the climb, the roofline, OpenCL against CUDA, and what
switches change."""

import itertools

import results
import style
from results import SWITCHES, Section, names_of, speed_text

# Of a bound, what a kernel has to reach to be limited by it, and of the time, what padding and transposing have to take to be told.
REACHED = 2 / 3
SUPPORT = 0.1

# A step that is told apart: this much faster or slower than the rung before.
STEP = 1.1

CLIMB = ("A rung is compared with the first setting of the rung before it, and time includes padding and transposing. A bound of which a kernel "
         "reaches two thirds limits it. A kernel that reaches none waits: for memory, at barriers, or for instructions before. Bounds come from a "
         "result file of `duogemm explain`, given to the report as well.")

PICTURES = ("Whiskers are quartiles. In the roofline a rung stands at what a work-group computes for each byte that it gets from beyond it; "
            "a rung under a roof is held down by something else. `duogemm explain --diff 6:7` says what changes from one rung to another.")


def groups_of(documents):
    """The runs of a ladder's file on one device and problem, numbered, with what they are about."""
    groups = {}
    for document in documents:
        for run in document["runs"]:
            groups.setdefault((run["device"]["name"].strip(), run["m"], run["n"], run["k"], id(document)), (document, []))[1].append(run)
    for number, (document, runs) in enumerate(groups.values(), 1):
        names = " and ".join(dict.fromkeys(results.runtime_name(run["device"]) for run in runs))
        parts = [runs[0]["device"]["name"].strip(), names, results.size_caption(runs[0]), results.switches([row for run in runs for row in run["rows"]]),
                 "cold operands" if document.get("operands") == "cold" else "",
                 f"cache preference {document['cache_preference']}" if document["cache_preference"] != "none" else "",
                 f"banks of {document['bank_bytes']} bytes" if document["bank_bytes"] else ""]
        yield number, ", ".join(filter(None, parts)), runs


def climb_sections(documents, explanations):
    explained = explained_kernels(explanations)
    for number, about, runs in groups_of(documents):
        reference = next((run["reference"] for run in runs if run["reference"]), None)
        climbs = [steps(run, run["reference"] or reference, explained) for run in runs]
        yield Section(f"climb_{number}", "The climb", about, CLIMB, [], climbs=climbs)


def sections(documents):
    for number, about, runs in groups_of(documents):
        by_backend = {run["device"]["backend"]: run for run in runs}
        both = [against(by_backend["cuda"], by_backend["opencl"])] if {"cuda", "opencl"} <= set(by_backend) else []
        rooflines = [roofline(run) for run in runs if roofs_of(run) and any("flops_per_byte" in row for row in run["rows"])]
        yield Section(f"ladder_{number}", "The climb in pictures", about, PICTURES, [climb(runs), *both, *rooflines])


def is_own(row):
    """Whether it is duogemm's own kernel, which comes after the rungs."""
    return "duogemm" in (row["rung"], row["kernel"])


def climbs(row):
    """Whether it is a step of the ladder, and not something to compare with."""
    return row["rung"].isdigit() or is_own(row)


def times_before(row, rows):
    """How many times as fast as the first setting of the rung before that ran, and which; of duogemm's own kernel, as the fastest."""
    if "gflops" not in row or not climbs(row):
        return None
    ran = [r for r in rows if r["rung"].isdigit() and "gflops" in r]
    if is_own(row):
        before = max(ran, key=lambda r: r["gflops"], default=None)
    else:
        earlier = [r for r in itertools.takewhile(lambda r: r is not row, ran) if r["rung"] != row["rung"]]
        before = results.first_of_rung(earlier[-1], ran) if earlier else None
    return (row["gflops"] / before["gflops"], before) if before else None


def rung_before(row, rows):
    """Which rung that is, if it is not the number before."""
    found = times_before(row, rows)
    return f"on rung {found[1]['rung']}" if found and (is_own(row) or int(found[1]["rung"]) != int(row["rung"]) - 1) else ""


def explained_kernels(documents):
    """What files of `duogemm explain` say of kernels, by device and kernel."""
    kernels = {}
    for document in documents:
        names = {entry["device"]["backend"]: entry["device"]["name"] for entry in document["devices"]}
        for kernel in document["kernels"]:
            if kernel["bounds"] and kernel["gflops"]:
                kernels[names[kernel["backend"]], kernel["backend"], results.key(kernel)] = kernel
    return kernels


def limit_of(row, run, explained):
    """What a kernel is limited by, if somebody measured it; empty otherwise."""
    if "gflops" not in row:
        return ""
    kernel = explained.get((run["device"]["name"], run["device"]["backend"], results.key(row)))
    found = by_explanation(kernel) if kernel else by_roofs(row, run)
    multiply = row.get("multiply_time")
    share = 1 - multiply["median_s"] / row["time"]["median_s"] if multiply else 0
    return ", ".join(filter(None, [found, f"padding and transposing: {100 * share:.0f}% of the time" if share > SUPPORT else ""]))


def by_explanation(kernel):
    lowest = kernel["bounds"][0]
    reached = kernel["gflops"] / lowest["gflops"]
    if reached < REACHED:
        return f"waiting ({lowest['name']}: {100 * reached:.0f}%)"
    return f"{lowest['name']} ({100 * reached:.0f}%)"


def peak_of(run):
    """The peak and its name, or nothing: the page for browsers saves a rung that ran alone without a peak."""
    return [(run["peak_gflops"], "measured peak")] if run["peak_gflops"] else []


def by_roofs(row, run):
    """Without explanation: a roof that is nearly reached, if the run measured it."""
    roofs = [(gflops, "multiply-adds") for gflops, _ in peak_of(run)]
    cache = (run.get("bandwidth") or {}).get("cache")
    if cache and "flops_per_byte" in row:
        roofs.append((cache * row["flops_per_byte"] / 1e9, "shared cache"))
    lowest, name = min(roofs, default=(0, ""))
    reached = row["gflops"] / lowest if lowest else 0
    return f"{name} ({100 * reached:.0f}%)" if reached >= REACHED else ""


def speed_cell(row):
    if "unsupported" in row:
        return "not supported"
    if "does_not_compile" in row:
        return "does not compile"
    return speed_text(row["gflops"]) + ("" if row["ok"] else " WRONG")


def steps(run, reference, explained):
    """A ladder as rows of bars: the rungs and other kernels, then what there is to compare with."""
    rows = run["rows"]
    peers = [(reference["name"], "", reference["gflops"])] if reference else []
    peers += [(name, "multiply-adds in registers alone", gflops) for gflops, name in peak_of(run)]
    whole = max([gflops for *_, gflops in peers] + [row["gflops"] for row in rows if "gflops" in row], default=1)
    limit, name = (reference["gflops"], reference["name"].split()[0]) if reference else (run["peak_gflops"], "the peak")

    def line(name, idea, gflops, **more):
        speed = {"speed": speed_text(gflops), "share": f"{100 * gflops / whole:.1f}",
                 "of": percent(gflops / limit) if limit else ""} if gflops else {}
        empty = dict.fromkeys(("speed", "share", "of", "hover", "times", "before", "step", "limit", "kind"), "")
        return {"rung": name, "idea": idea, **empty, **speed, **more}
    lines = [line(results.name(row) + results.short_setting(row, rows), row["idea"], row.get("gflops"), **details(row, run, explained))
             for row in rows]
    lines += [line(*peer, kind="peer") for peer in peers]
    return {"text": f"{answer(run)} Measured through {results.runtime_caption(run)}.{unsupported(rows)}", "rows": lines,
            "of": f"of {name}" if peers else "", "dashed": peers[0][0] if peers else "", "mark": f"{100 * limit / whole:.1f}"}


def unsupported(rows):
    """Which rungs the device cannot run, and why."""
    reasons = {}
    for row in rows:
        if "unsupported" in row:
            reasons.setdefault(row["unsupported"], []).append(row["rung"] or row["kernel"])
    return "".join(f" Not supported: {ranges(rungs)} (needs {reason})." for reason, rungs in reasons.items())


def percent(share):
    return f"{100 * share:.{0 if share >= 0.01 else 1}f}%"


def details(row, run, explained):
    """What the row of a ladder says besides its speed."""
    ran = "gflops" in row
    times = (times_before(row, run["rows"]) or [None])[0]
    return {"speed": speed_cell(row), "hover": hover(row) if ran else f"needs {row['unsupported']}" if "unsupported" in row else "",
            "times": f"\u00d7{times:.2f}" if times else "", "before": rung_before(row, run["rows"]),
            "step": "up" if times and times > STEP else "down" if times and times < 1 / STEP else "",
            "limit": limit_of(row, run, explained), "kind": "wrong" if ran and not row["ok"] else "own" if is_own(row) else ""}


def hover(row):
    """What a browser tells of a kernel under the pointer."""
    below, above = results.speed_quartiles(row)
    return (f"{results.name(row)}: {speed_text(row['gflops'])} GFLOP/s, quartiles {speed_text(row['gflops'] - below)} and "
            f"{speed_text(row['gflops'] + above)}, {len(row['time']['seconds'])} samples")


def answer(run):
    """The outcome in a sentence or two."""
    timed = [row for row in run["rows"] if "gflops" in row and row["ok"]]
    rungs = [row for row in timed if row["rung"].isdigit()]
    where = results.where(run["device"])
    if not rungs:
        return f"{where}: no rung has run with a right result."
    fastest = max(rungs, key=lambda row: row["gflops"])
    words = [f"{where}: the fastest rung is {results.name(fastest)}{results.short_setting(fastest, run['rows'])} "
             f"with {speed_text(fastest['gflops'])} GFLOP/s"]
    if rungs[0]["rung"] == "1":
        words.append(f"{fastest['gflops'] / rungs[0]['gflops']:.1f} times rung 1")
    text = ", ".join(words + shares(fastest, run)) + "."
    own = next((row for row in timed if is_own(row)), None)
    return text + (f" duogemm's own kernel: {speed_text(own['gflops'])} GFLOP/s, " + ", ".join(shares(own, run)) + "." if own else "")


def facts(run):
    """The outcome as numbers, each with what it is."""
    timed = [row for row in run["rows"] if "gflops" in row and row["ok"]]
    rungs, own = [row for row in timed if row["rung"].isdigit()], [row for row in timed if is_own(row)]
    if not rungs:
        return []
    fastest = max(rungs, key=lambda row: row["gflops"])
    found = []
    if rungs[0]["rung"] == "1":
        found.append((f"\u00d7{fastest['gflops'] / rungs[0]['gflops']:.1f}", f"from rung 1 to rung {fastest['rung']}"))
    for row, who in [(fastest, f"rung {fastest['rung']}"), *((row, "duogemm's own kernel") for row in own)]:
        for text in shares(row, run)[:1]:
            share, what = text.split(" ", 1)
            found.append((share, f"{what}, by {who}"))
    return found


def shares(row, run):
    limits = [(run["reference"]["gflops"], run["reference"]["name"])] if run["reference"] else []
    limits += [(gflops, f"the {name}") for gflops, name in peak_of(run)]
    return [f"{100 * row['gflops'] / gflops:.0f}% of {name}" for gflops, name in limits]


def climb(runs):
    """Speed rung by rung, of runs of one problem on one device, and what each gained on the rung before. Lines: the other library, the peak."""
    rows = runs[0]["rows"]
    figure, axis = style.bars_figure(names_of(rows), len(runs))
    height = 0.84 / len(runs)
    for index, run in enumerate(runs):
        found = {results.key(row): row for row in run["rows"]}
        timed = [(i + (index - (len(runs) - 1) / 2) * height, found.get(results.key(row), {})) for i, row in enumerate(rows)]
        bars = [(at, row, *results.speed_quartiles(row)) for at, row in timed if "gflops" in row]
        drawn = axis.barh([at for at, *_ in bars], [row["gflops"] for _, row, *_ in bars], height, label=results.runtime_name(run["device"]),
                          xerr=list(zip(*[quartiles for _, _, *quartiles in bars])) or None, error_kw=style.WHISKERS, **style.bar_style(index))
        style.hover_bars(drawn, [hover(row) for _, row, *_ in bars])
        for at, row, _, above in bars:
            text = speed_text(row["gflops"]) + ("" if row["ok"] else "  WRONG")
            times = (times_before(row, run["rows"]) or [0])[0]
            axis.annotate(f"{text}  \u00d7{times:.2f}" if times else text, (row["gflops"] + above, at), xytext=(4, 0), textcoords="offset points",
                          va="center", fontsize=8, bbox=style.PAPER, zorder=5)
        for at, row in timed:
            if "gflops" not in row:
                axis.text(0.0, at, " not supported" if "unsupported" in row else " does not compile", va="center", fontsize=8)
    limits = [(run["reference"]["name"], run["reference"]["gflops"]) for run in runs if run["reference"]][:2]
    limits += [(label, gflops) for gflops, label in sorted(peak for run in runs for peak in peak_of(run))[-1:]]
    for line, (label, gflops) in zip(("--", ":", "-."), limits):
        axis.axvline(gflops, color="black", linestyle=line, linewidth=1.2, zorder=1, label=f"{label}: {speed_text(gflops)}")
    speeds = [row["gflops"] for run in runs for row in run["rows"] if "gflops" in row]
    axis.set_xlim(0, 1.25 * max(speeds + [gflops for _, gflops in limits], default=1))
    axis.set_xlabel("GFLOP/s; \u00d7: times the rung before")
    style.count_speeds(axis)
    style.title(axis, *[f"{results.device_caption(run)}; {results.size_caption(run)}" for run in runs])
    return style.finish(figure, axis, "GFLOP/s", 1)


def roofs_of(run):
    """The roofs that a run measured, as name, bytes for each second, line."""
    bandwidth = run.get("bandwidth") or {}
    return [(name, bandwidth[member], line)
            for name, member, line in (("shared cache", "cache", "-."), ("memory", "memory", ":")) if bandwidth.get(member)]


def roofline(run):
    """The rungs, at what a work-group computes for each byte that it gets from beyond it."""
    figure, axis = style.lines_figure()
    points = [row for row in run["rows"] if "gflops" in row and "flops_per_byte" in row]
    peak = run["peak_gflops"]  # 0 where it was not measured
    intensities = [row["flops_per_byte"] for row in points]
    left, right = min(intensities) / 2, max(intensities) * 16  # room for labels
    for name, bytes_per_second, line in roofs_of(run):
        roof = bytes_per_second / 1e9
        end = min(peak / roof, right) if peak else right
        if end > left:
            axis.plot([left, end], [left * roof, end * roof], color="black", linestyle=line, linewidth=1.4, label=f"{name}: {roof:,.0f} GB/s")
    if peak:
        axis.axhline(peak, color="black", linewidth=1.4, label=f"measured peak: {peak:,.0f} GFLOP/s")
    if run["reference"]:
        axis.axhline(run["reference"]["gflops"], color="black", linestyle="--", linewidth=0.9, label=run["reference"]["name"])
    drawn, = axis.plot(intensities, [row["gflops"] for row in points], **{**style.line_style(0), "linestyle": "none", "markersize": 6})
    style.hover_points(drawn, [f"{hover(row)}, {row['flops_per_byte']:.3g} FLOP per byte" for row in points])
    style.speed_scales(axis, "FLOP for each byte that a work-group\ngets from beyond it")
    axis.set_xlim(left, right)
    style.title(axis, f"{results.device_caption(run)}; {results.size_caption(run)}")
    rungs = [f"{results.name(row)} {speed_text(row['gflops'])} at {row['flops_per_byte']:.3g}" for row in points]
    finished = style.finish(figure, axis, "GFLOP/s at FLOP per byte", 1, f"{style.words_of(axis)}; " + ", ".join(rungs))
    style.label_points(axis, [(row["flops_per_byte"], row["gflops"], row["rung"] or row["kernel"]) for row in points], ranges)
    return finished


def ranges(names):
    """Numbers that follow each other as one: "1, 7-10, duogemm"."""
    numbers = sorted({int(name) for name in names if name.isdigit()})
    runs = [[number for _, number in run] for _, run in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    texts = [f"{run[0]}" if len(run) == 1 else f"{run[0]}\u2013{run[-1]}" for run in runs]
    return ", ".join(texts + [name for name in dict.fromkeys(names) if not name.isdigit()])


def against(cuda, opencl):
    """OpenCL over CUDA, rung by rung; the samples of a turn are paired."""
    found = {results.key(row): row for row in opencl["rows"]}
    rows = [row for row in cuda["rows"] if "time" in row and "time" in found.get(results.key(row), {})]
    figure, axis = style.bars_figure(names_of(rows))
    ratios = [results.quartiles_of_ratio(row["time"]["seconds"], found[results.key(row)]["time"]["seconds"]) for row in rows]
    drawn = style.quartile_bars(axis, range(len(rows)), ratios, 0.6, 1, **style.bar_style(1))
    style.hover_bars(drawn, [f"{results.name(row)}: {middle:.3f}, quartiles {low:.3f} and {high:.3f}"
                             for row, (low, middle, high) in zip(rows, ratios)])
    axis.axvline(1.0, color="black", linewidth=1)
    axis.set_xlabel("speed through OpenCL / through CUDA")
    style.title(axis, f"{results.device_caption(cuda)}; {results.size_caption(cuda)}", results.device_caption(opencl))
    words = [f"{name} {middle:.3f}".replace("\n", " ") for name, (_, middle, _) in zip(names_of(rows), ratios)]
    return style.finish(figure, axis, "Speed through OpenCL over that through CUDA", words=", ".join(words))


def switch_sections(effects, name):
    """What switches change: the same kernel with and without."""
    for number, (device, size) in enumerate(dict.fromkeys((effect["device"], effect["size"]) for effect in effects), 1):
        chosen = [effect for effect in effects if (effect["device"], effect["size"]) == (device, size)]
        how = " and ".join(dict.fromkeys(effect["how"] for effect in chosen))
        yield Section(f"{name}_{number}", "What switches change", f"{device.strip()}, M=N=K={size}, {how}",
                      "By how many percent a kernel is faster with a switch on. Paired samples: those taken in turns, or in the same order in "
                      "separate runs.", [switch_picture(chosen)])


def effects_in_sweeps(documents):
    """Of sweeps over switches: paired, because all points of a shape took turns."""
    effects = []
    for document in documents:
        ran = [point for point in document["points"] if "time" in point.get("row", {})]
        for with_it, without in itertools.product(ran, ran):
            switch = toggled(without["row"]["tunables"], with_it["row"]["tunables"])
            if switch and all(with_it[size] == without[size] for size in "mnk"):
                effects.append(effect(switch, without["row"], with_it["row"], document, with_it["m"], "in turns"))
    return effects


def effects_between(documents):
    """Of ladders that were run one after the other, with another switch or another cache preference."""
    runs = [(document, run) for document in documents for run in document["runs"]]
    pairs = [(one, other) for one, other in itertools.permutations(runs, 2) if same_problem(one[1], other[1])]
    effects = [effect for one, other in pairs for effect in effects_between_runs(*one, *other)]
    # Of several pairs of runs that say the same, the first.
    return list({(e["name"], e["runtime"], e["device"], e["size"]): e for e in reversed(effects)}.values())[::-1]


def same_problem(run, other):
    return all(run["device"][member] == other["device"][member] for member in ("name", "backend")) and all(run[size] == other[size] for size in "mnk")


def effects_between_runs(document, run, other_document, other):
    same_cache = document["cache_preference"] == other_document["cache_preference"]
    for row, with_it in itertools.product(run["rows"], other["rows"]):
        if "time" not in row or "time" not in with_it or row["kernel"] != with_it["kernel"]:
            continue
        what = toggled(row["tunables"], with_it["tunables"]) if same_cache else None
        if row["tunables"] == with_it["tunables"] and not same_cache and document["cache_preference"] == "none":
            what = f"cache {other_document['cache_preference']}"
        if what:
            yield effect(what, row, with_it, run, run["m"], "separate runs", results.short_setting(row, run["rows"], without=SWITCHES))


def toggled(before, after):
    """The one switch that is off before and on after, where all else is the same."""
    different = [name for name in before if before[name] != after.get(name)]
    return different[0] if len(different) == 1 and different[0] in SWITCHES and after[different[0]] == 1 else None


def effect(switch, without, with_it, run, size, how, variant=""):
    extra = [other for other in SWITCHES if other != switch and with_it["tunables"].get(other) == 1]
    name = f"{switch.replace('USE_', '')}\n{results.name(with_it)}{variant}" + "".join(f"\nwith {other.replace('USE_', '')}" for other in extra)
    return {"name": name, "runtime": results.runtime_name(run["device"]), "device": run["device"]["name"], "caption": results.device_caption(run),
            "size": size, "how": how,
            "percent": [100 * (ratio - 1) for ratio in results.quartiles_of_ratio(without["time"]["seconds"], with_it["time"]["seconds"])]}


def switch_picture(effects):
    """By how many percent a kernel becomes faster; of effects on one device."""
    names = list(dict.fromkeys(effect["name"] for effect in effects))
    variants = list(dict.fromkeys((effect["runtime"], effect["how"]) for effect in effects))
    figure, axis = style.bars_figure(names, len(variants))
    height = 0.8 / len(variants)
    for index, variant in enumerate(variants):
        chosen = [effect for effect in effects if (effect["runtime"], effect["how"]) == variant]
        positions = [names.index(effect["name"]) + (index - (len(variants) - 1) / 2) * height for effect in chosen]
        drawn = style.quartile_bars(axis, positions, [effect["percent"] for effect in chosen], height, 0, label=", ".join(variant),
                                    **style.bar_style(index))
        style.hover_bars(drawn, ["{1:.2f} percent, quartiles {0:.2f} and {2:.2f}".format(*effect["percent"]) for effect in chosen])
    axis.axvline(0.0, color="black", linewidth=1)
    axis.set_xlabel("percent faster by the switch")
    style.title(axis, *dict.fromkeys(effect["caption"] for effect in effects), f"M=N=K={effects[0]['size']}")
    return style.finish(figure, axis, "Percent faster with the switch on", 1)
