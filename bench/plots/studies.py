"""What is no ladder: explanations, comparisons, replays, accuracies and sweeps."""

import math

import results
import style
from results import Section, names_of
from style import MaxNLocator, plt

# What is stacked on the multiply-adds of a main loop, from the left.
PARTS = [("local loads", ("local_load",)), ("global loads", ("global_load", "copy")), ("stores", ("local_store", "global_store")),
         ("stack", ("stack_load", "stack_store")), ("shuffles, barriers", ("shuffle", "barrier")), ("additions", ("addition",)),
         ("addresses, moves", ("arithmetic",)), ("control", ("control",))]

# Of what a section shows of explanations: its name and title, which kernels it needs, its text, and what draws it.
EXPLAINED = [("bounds", "Speed and bounds", lambda kernel: kernel["bounds"] and kernel["gflops"],
              "What was measured, and the lowest bound with what sets it.", lambda kernels, document: bounds(kernels, document)),
             ("steps", "Steps", lambda kernel: kernel.get("steps"),
              "What a plan takes longer with each step than without it and all after it.", lambda kernels, _: steps(kernels)),
             ("mix", "What main loops consist of", lambda kernel: True, "From the compiled kernels.", lambda kernels, _: mix(kernels))]

# The bars of a trace, from the top: whose, which pass, and what it is called.
PASSES = [("ours", "first", "first, nothing on disk"), ("ours", "disk", "first, programs on disk"), ("ours", "warmed", "first, after warm()"),
          ("other", "first", "first"), ("ours", "again", "again"), ("other", "again", "again")]

# On a cell's own shade, which does not follow the page's colours.
ON_LIGHT, ON_DARK = "#101010", "#f0f0f0"


def explain_sections(documents):
    for number, document in enumerate(documents, 1):
        where = f"{', '.join(dict.fromkeys(entry['device']['name'].strip() for entry in document['devices'])) or 'compiled only'}, " \
                f"{results.size_caption(document)}"
        looped = [kernel for kernel in document["kernels"] if kernel["loop"]]
        for name, title, has, text, draw in EXPLAINED:
            groups = [[kernel for kernel in looped if kernel["backend"] == backend and has(kernel)]
                      for backend in dict.fromkeys(kernel["backend"] for kernel in looped)]
            pictures = [draw(kernels, document) for kernels in groups if kernels]
            if pictures:
                yield Section(f"{name}_{number}", title, where, text, pictures)


def mix(kernels):
    """Instructions of the main loop besides the multiply-adds, for each of them; of kernels of one runtime."""
    def instructions(kernel, *kinds):
        return sum(kernel["loop"]["kinds"].get(kind, {"instructions": 0})["instructions"] for kind in kinds)
    figure, axis = style.bars_figure(names_of(kernels))
    style.stack_bars(axis, [(title, [instructions(k, *kinds) / instructions(k, "multiply_add") for k in kernels]) for title, kinds in PARTS])
    axis.set_xlabel("instructions for each multiply-add")
    style.title(axis, *dict.fromkeys(f"{kernel['compiled_for']}; {kernel['language']}" for kernel in kernels))
    return style.finish(figure, axis, "Instructions besides each multiply-add", 2)


def bounds(kernels, document):
    """Measured speed and the lowest bound; of kernels of one runtime."""
    figure, axis = style.bars_figure([f"{name}\n{kernel['bounds'][0]['name']}" for name, kernel in zip(names_of(kernels), kernels)], 2)
    for index, (label, speeds) in enumerate((("measured", [k["gflops"] for k in kernels]),
                                             ("the lowest bound, which the name tells", [k["bounds"][0]["gflops"] for k in kernels]))):
        axis.barh([i - 0.2 + 0.4 * index for i in range(len(kernels))], speeds, 0.4, label=label, **style.bar_style(index))
    axis.set_xlabel("GFLOP/s")
    style.count_speeds(axis)
    (device,) = [entry for entry in document["devices"] if entry["device"]["backend"] == kernels[0]["backend"]]
    style.title(axis, f"{results.device_caption(device)}; {results.size_caption(document)}")
    return style.finish(figure, axis, "GFLOP/s", 1)


def steps(kernels):
    """What each step takes of a plan's time, and what is known of tensor cores; of kernels of one runtime."""
    figure, axis = style.bars_figure(names_of(kernels))
    titles = dict.fromkeys(step["name"] for kernel in kernels for step in kernel["steps"])
    style.stack_bars(axis, [(title, [1e6 * sum(step["seconds"] for step in kernel["steps"] if step["name"] == title) for kernel in kernels])
                            for title in titles])
    axis.set_xlabel("us")
    style.title(axis, *dict.fromkeys(kernel["compiled_for"] for kernel in kernels))
    cores = [f"; {name}: {100 * found['utilisation']:.0f} percent of the tensor cores' rate, promotion {100 * found['promotion']:.0f} percent of it"
             for name, kernel in zip(names_of(kernels), kernels) if (found := kernel["tensor_cores"]) and found["utilisation"]]
    return style.finish(figure, axis, "Microseconds of each step", 2, (style.words_of(axis) + "".join(cores)).replace("\n", " "))


def compare_sections(documents):
    for number, document in enumerate(documents, 1):
        for run in (run for run in document["runs"] if run["rows"]):
            lists = list(dict.fromkeys(row["list"] for row in run["rows"]))
            how = [*how_called(document), f"{document['operands']} operands", *(["in a graph"] if document["graph"] else []),
                   *filter(None, [document.get("level")]), *([f"list {lists[0]}"] if len(lists) == 1 else [])]
            others = " and ".join(other["title"] for other in run["others"]) or "nothing else"
            summary = [["list", "other", "shapes", "geometric mean", "worst", "at"]] + [
                [row["list"] or "all", row["title"], str(row["shapes"]), f"{row['geometric_mean']:.2f}", f"{row['worst']:.2f}", row["worst_label"]]
                for row in run["summary"] if row["shapes"]]
            pictures = [picture for wanted in lists for picture in (ratios(run, wanted), speeds(run, wanted)) if picture]
            yield Section(f"compare_{number}_{run['device']['backend']}",
                          f"duogemm versus {others}", f"{results.where(run['device'])}, {', '.join(how)}",
                          "Each shape of each list: the other's time over duogemm's, and the speed of every contender.",
                          pictures, [(summary, "The other's time over duogemm's: above 1, duogemm is faster.")])


def facts(run):
    """A comparison's outcome as numbers, each with what it is: over all lists, or of the one that there is."""
    return [(f"\u00d7{row['geometric_mean']:.2f}", f"as fast as {row['title']}, the mean of {row['shapes']} shapes") for row in run["summary"]
            if row["shapes"] and (not row["list"] or len({other["list"] for other in run["summary"]}) == 1)]


def how_called(document):
    """What a comparison permits or asks for beyond the usual: another precision, plain arrays, several threads, little memory."""
    precision, through = document.get("precision", "fp32"), document.get("through", "device")
    return [*([f"by {precision}"] if precision != "fp32" else []), *([f"through {through}"] if through != "device" else []),
            *([f"{document['callers']} threads at once"] if document.get("callers", 1) > 1 else []),
            *([f"{document['device_memory']} bytes of device memory"] if document.get("device_memory") else [])]


def work(row):
    return row["m"] * row["n"] * row["k"] * row["batch"]


def contenders(run, wanted):
    """The shapes of one list that were not skipped, smallest first, and for each contender its name and its time of each shape."""
    rows = sorted((row for row in run["rows"] if row["list"] == wanted and "skipped" not in row), key=work)
    others = [(other["name"], [row["others"][index].get("time") if len(row.get("others", [])) > index else None for row in rows])
              for index, other in enumerate(run["others"])]
    return rows, [("duogemm", [row.get("time") for row in rows]), *others]


def draw_shapes(axis, rows, lines):
    """Values of shapes against their size. lines: for each contender its name, its style, and for each shape a value or nothing, and its title."""
    cubes = all(row["m"] == row["n"] == row["k"] and row["batch"] == 1 for row in rows)
    for name, index, points in lines:
        found = [(work(row) ** (1 / 3), value, f"{row['label']}: {title}") for row, (value, title) in zip(rows, points) if value]
        look = style.line_style(index)
        drawn, = axis.plot([size for size, _, _ in found], [value for _, value, _ in found], label=name,
                           **{**look, "linestyle": look["linestyle"] if cubes else "none"})
        style.hover_points(drawn, [title for _, _, title in found])
    return "M = N = K" if cubes else "cube root of M N K, all of the batch"


def ratios(run, wanted):
    """The time of every other contender over duogemm's."""
    rows, (ours, *others) = contenders(run, wanted)
    if not others:
        return None
    figure, axis = style.lines_figure()
    lines = []
    for index, (name, times) in enumerate(others, 1):
        values = [other["median_s"] / own["median_s"] if own and other else None for own, other in zip(ours[1], times)]
        lines.append((name, index, [(value, f"{value:.2f} times as fast as {name}" if value else "") for value in values]))
    axis.axhline(1.0, color="black", linewidth=1)
    axis.set_xlabel(draw_shapes(axis, rows, lines))
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_ylim(0, 1.08 * max([value for *_, points in lines for value, _ in points if value] + [1]))
    axis.set_ylabel("other's time / duogemm's")
    style.title(axis, f"{wanted}; {results.device_caption(run)}")
    return style.finish(figure, axis, f"Ratios of {len(rows)} shapes of {wanted}", 1)


def speeds(run, wanted):
    """Speed against size for every contender, of one list."""
    rows, found = contenders(run, wanted)
    figure, axis = style.lines_figure()
    lines = []
    for index, (name, times) in enumerate(found):
        values = [2 * work(row) / time["median_s"] / 1e9 if time else None for row, time in zip(rows, times)]
        lines.append((name, index, [(value, f"{results.speed_text(value)} GFLOP/s, {name}" if value else "") for value in values]))
    style.speed_scales(axis, draw_shapes(axis, rows, lines))
    style.title(axis, f"{wanted}; {results.device_caption(run)}")
    return style.finish(figure, axis, f"GFLOP/s of {len(rows)} shapes of {wanted}", 1)


def replay_sections(documents):
    for number, document in enumerate(documents, 1):
        yield Section(f"replay_{number}", "Programs from their first call on", results.where(document["device"]),
                      "Wall time of all calls of each trace: a first pass with nothing on disk, a first pass of a new process with programs on disk, "
                      "and a pass again in the same process. A context of the runtime is there before.",
                      [walls(trace, document) for trace in document["traces"]], [(walks(document), "")])


def passes(trace):
    """The bars that a trace has, each with its pass."""
    return [(who, name, title, trace[who][name]) for who, name, title in PASSES if trace[who] and name in trace[who]]


def milliseconds(seconds):
    return f"{1e3 * seconds:,.{max(0, 2 - max(0, math.floor(math.log10(1e3 * seconds))))}f}"


def walls(trace, document):
    """The wall times of one trace's passes, on a logarithmic scale."""
    found = passes(trace)
    times = [1e3 * walk["wall_s"] for _, _, _, walk in found]
    figure, axis = style.bars_figure([title.replace(", ", ",\n") for _, _, title, _ in found])
    for index, (who, label) in enumerate((("ours", "duogemm"), ("other", trace["title"]))):
        chosen = [i for i, (whose, _, _, _) in enumerate(found) if whose == who]
        if chosen:
            axis.barh(chosen, [times[i] for i in chosen], 0.7, label=label, **style.bar_style(index))
    for i, wall in enumerate(times):
        axis.annotate(milliseconds(1e-3 * wall), (wall, i), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
    axis.set_xscale("log")
    axis.set_xlim(min(times) / 3, max(times) * (max(times) / min(times)) ** 0.2 * 1.5)  # room for the figures
    style.count_by_magnitude(axis.xaxis)
    axis.set_xlabel("ms")
    where = "plain arrays" if trace["through"] == "host" else "device memory"
    style.title(axis, f"{trace['trace']}: {trace['calls']:,} calls, {trace['different']:,} different, {where}", results.device_caption(document))
    return style.finish(figure, axis, f"Wall times of {trace['trace']} in ms", 2)


def walks(document):
    """Wall times and what calls take on the host, a row for each trace and pass."""
    rows = [["trace", "who", "pass", "ms", "ratio", "call, median us", "99 percent", "new call, median us", "99 percent"]]
    for trace in document["traces"]:
        for who, name, title, walk in passes(trace):
            other = trace["other"]["again" if name == "again" else "first"] if trace["other"] and who == "ours" else None
            calls = [f"{1e6 * walk[member]:,.1f}" for member in ("call_median_s", "call_p99_s", "new_median_s", "new_p99_s")]
            rows.append([trace["trace"], trace[who]["name"], title, milliseconds(walk["wall_s"]),
                         f"{other['wall_s'] / walk['wall_s']:.2f}" if other else "", *calls])
    return rows


def accuracy_sections(documents):
    for number, document in enumerate(documents, 1):
        kinds = list(dict.fromkeys(row["input"] for row in document["rows"]))
        if kinds:
            yield Section(f"accuracy_{number}", "Accuracy", f"{results.where(document['device'])}, M=N={document['m']}",
                          "The error of a result in units of 2^-24 times what it is a sum of, |A||B|: the largest over all results that were "
                          "computed anew. Half a unit is the rounding of a result that is right; the bound is 2 sqrt(K) + 4.",
                          [errors(document, kind) for kind in kinds], [(largest_errors(document, kinds), "The largest error over all K.")])


def titles(document):
    """Of everybody, ours first."""
    return document["precisions"] + [other["title"] for other in document["others"]]


def error_of(row, title):
    return next((error for error in row["errors"] if error["title"] == title), {})


def errors(document, kind):
    """The largest errors against K: lines on logarithmic scales, on which an error of zero has no place, nor one that is not finite."""
    rows = [row for row in document["rows"] if row["input"] == kind]
    figure, axis = style.lines_figure()
    axis.plot([row["k"] for row in rows], [row["bound"] for row in rows], color="#808080", linewidth=1, label="bound",
              marker="_" if len(rows) == 1 else "", markersize=30)
    for index, title in enumerate(titles(document)):
        drawn = [(row["k"], units) for row in rows if (units := error_of(row, title).get("largest"))]
        axis.plot([k for k, _ in drawn], [units for _, units in drawn], label=title, **style.line_style(index))
    axis.set_xscale("log", base=2)
    axis.set_xticks([row["k"] for row in rows], [str(row["k"]) for row in rows], fontsize=8)
    axis.minorticks_off()
    axis.set_yscale("log")
    axis.set_xlabel("K")
    axis.set_ylabel("largest error")
    style.title(axis, f"{kind}: {rows[0]['about']}", results.device_caption(document))
    return style.finish(figure, axis, "Largest errors", 3)


def largest_errors(document, kinds):
    """The largest error of each contender over all K, a row for each kind of matrices."""
    def cell(rows, title):
        found = [error["largest"] for row in rows if "largest" in (error := error_of(row, title))]
        return "" if not found else "not finite" if None in found else results.speed_text(max(found))
    lines = [["matrices", "what they are", *titles(document)]]
    for kind in kinds:
        rows = [row for row in document["rows"] if row["input"] == kind]
        lines.append([kind, rows[0]["about"], *(cell(rows, title) for title in titles(document))])
    return lines


def sweep_sections(documents):
    for number, document in enumerate(documents, 1):
        axes = " and ".join(axis["name"] for axis in document["axes"])
        about = f"{results.name(document)}, {results.where(document['device'])}"
        yield Section(f"sweep_{number}", f"Sweep over {axes}", about, "", [sweep(document)])


def speed(point):
    return point["row"]["gflops"] if "row" in point and "gflops" in point["row"] else None


def sweep(document):
    """A line of one axis, a heat map of two. In words: every point, or of many the fastest and the slowest."""
    figure, axis = heat_map(document) if len(document["axes"]) == 2 else line(document)
    names = [found["name"] for found in document["axes"]]
    sizes = {size for name in names for size in ("mnk" if name == "size" else name)}
    fixed = " ".join(f"{size.upper()}={document['points'][0][size]}" for size in "mnk" if size not in sizes)
    style.title(axis, f"{results.name(document)}; {results.device_caption(document)}" + (f"; {fixed}" if fixed else ""))
    points = sorted((point for point in document["points"] if speed(point)), key=lambda point: -speed(point))
    chosen = points if len(points) <= 12 else [points[0], points[-1]]
    words = [" ".join(f"{name}={value}" for name, value in zip(names, point["at"])) + f" {results.speed_text(speed(point))}" for point in chosen]
    return style.finish(figure, axis, "GFLOP/s", int(len(names) == 1),
                        f"of {len(points)} points{'' if chosen == points else ' the fastest and the slowest'}, " + ", ".join(words))


def line(document):
    figure, axis = style.lines_figure()
    points = [point for point in document["points"] if speed(point)]
    whiskers = list(zip(*[results.speed_quartiles(point["row"]) for point in points]))
    axis.errorbar([p["at"][0] for p in points], [speed(p) for p in points], yerr=whiskers or None, capsize=3,
                  label=document["kernel"], **style.line_style(0))
    if points and all(p["reference_gflops"] for p in points):
        axis.plot([p["at"][0] for p in points], [p["reference_gflops"] for p in points], label=document["reference"], **style.line_style(1))
    axis.set_xlabel(document["axes"][0]["name"])
    axis.set_ylabel("GFLOP/s (quartiles)")
    axis.set_ylim(bottom=0)
    return figure, axis


def heat_map(document):
    """The first axis downwards, the second to the right; each field with its number, those that are not possible hatched."""
    down, across = document["axes"]
    columns = len(across["values"])
    figure, axis = plt.subplots(figsize=(max(style.WIDTH, 0.55 * columns + 1.2), max(1.2, 0.38 * len(down["values"]))))
    found = [speed(point) or float("nan") for point in document["points"]]
    drawn = axis.imshow([found[i:i + columns] for i in range(0, len(found), columns)], cmap="Blues", aspect="auto")
    figure.colorbar(drawn, label="GFLOP/s", ticks=MaxNLocator(4), format="{x:,g}")
    highest = max((value for value in found if value > 0), default=1.0)
    for index, value in enumerate(found):
        i, j = divmod(index, columns)
        if value > 0:
            axis.text(j, i, results.speed_text(value), ha="center", va="center", fontsize=8.5,
                      color=ON_DARK if drawn.norm(value) > 0.6 else ON_LIGHT, fontweight="bold" if value == highest else "normal")
        else:
            axis.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="//", edgecolor="gray", linewidth=0))
    axis.set_xticks(range(columns), across["values"])
    axis.set_yticks(range(len(down["values"])), down["values"])
    axis.set_xlabel(f"{across['name']}; hatched: not possible")
    axis.set_ylabel(down["name"])
    axis.grid(False)
    return figure, axis
