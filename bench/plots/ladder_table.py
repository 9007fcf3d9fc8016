"""The ladder's answer: for each rung how fast, how much faster than before, what binds it, and what comes next."""

import results

HEADS = ["rung", "idea", "GFLOP/s", "times the rung before", "what binds it", "next step"]

# Of a bound, what a kernel has to reach to be bound by it, and of the time, what padding and transposing have to take to be told.
REACHED = 2 / 3
SUPPORT = 0.1


def is_own(row):
    """Whether it is duogemm's own kernel, which comes after the rungs."""
    return "duogemm" in (row["rung"], row["kernel"])


def climbs(row):
    """Whether it is a step of the ladder, and not something to compare with."""
    return row["rung"].isdigit() or is_own(row)


def times_before(row, rows):
    """How many times as fast as the first setting of the rung before that ran, and which; of duogemm's own kernel, as the fastest."""
    rungs = [r for r in rows if r["rung"].isdigit() and ("gflops" in r or r is row)]
    if is_own(row):
        before = max((r for r in rungs if "gflops" in r), key=lambda r: r["gflops"], default=None)
    elif climbs(row):
        earlier = [r for r in rungs[:next(i for i, r in enumerate(rungs) if r is row)] if r["rung"] != row["rung"]]
        before = results.first_of_rung(earlier[-1], rungs) if earlier else None
    else:
        before = None
    return (row["gflops"] / before["gflops"], before) if before and "gflops" in before and "gflops" in row else None


def times_text(row, rows):
    found = times_before(row, rows)
    if not found:
        return ""
    factor, before = found
    return f"{factor:.2f} x {'the fastest, ' if is_own(row) else ''}rung {before['rung']}"


def next_step(row, rows):
    """The idea of the next rung that ran, for the last setting of a rung that ran."""
    index = next(i for i, r in enumerate(rows) if r is row)
    after = next((r for r in rows[index + 1:] if climbs(r) and "gflops" in r), None)
    if not row["rung"].isdigit() or "gflops" not in row or after is None or after["rung"] == row["rung"]:
        return ""
    return f"{results.name(after)}: {after['idea']}"


class Explanations:
    """What files of `duogemm explain` say of kernels, by device and kernel."""

    def __init__(self, documents):
        self.kernels = {}
        for document in documents:
            names = {entry["device"]["backend"]: entry["device"]["name"] for entry in document["devices"]}
            for kernel in document["kernels"]:
                if kernel["bounds"] and kernel["gflops"]:
                    self.kernels[names[kernel["backend"]], kernel["backend"], results.key(kernel)] = kernel

    def of(self, run, row):
        return self.kernels.get((run["device"]["name"], run["device"]["backend"], results.key(row)))


def binds(row, run, explanations):
    """What a kernel is bound by, as far as somebody measured it; empty otherwise."""
    if "gflops" not in row:
        return ""
    explained = explanations.of(run, row)
    found = by_explanation(explained) if explained else by_roofs(row, run)
    total, multiply = row["time"], row.get("multiply_time")
    share = 1 - multiply["median_s"] / total["median_s"] if multiply else 0
    return "; ".join(filter(None, [found, f"padding and transposing take {100 * share:.0f}%" if share > SUPPORT else ""]))


def by_explanation(kernel):
    lowest = kernel["bounds"][0]
    reached = kernel["gflops"] / lowest["gflops"]
    if reached < REACHED:
        return f"waiting: only {100 * reached:.0f}% of what {lowest['name']} would allow"
    return f"{lowest['name']}: {100 * reached:.0f}% of that bound"


def by_roofs(row, run):
    """Without explanation: a roof that is nearly reached, as far as the run measured it."""
    roofs = [(run["peak_gflops"], "multiply-adds")]
    cache = (run.get("bandwidth") or {}).get("cache")
    if cache and "flops_per_byte" in row:
        roofs.append((cache * row["flops_per_byte"] / 1e9, "shared cache"))
    lowest, name = min(roofs)
    reached = row["gflops"] / lowest
    return f"{name}: {100 * reached:.0f}% of what was measured" if reached >= REACHED else ""


def speed_cell(row):
    if "unsupported" in row:
        return f"not supported: needs {row['unsupported']}"
    return results.speed_text(row["gflops"]) + ("" if row["ok"] else " WRONG")


def table(run, explanations):
    """Rows of cells, the first of them the heads."""
    rows = run["rows"]
    cells = [HEADS]
    for row in rows:
        cells.append([results.name(row) + results.short_setting(row, rows), row["idea"], speed_cell(row), times_text(row, rows),
                      binds(row, run, explanations), next_step(row, rows)])
    if run["reference"]:
        cells.append([run["reference"]["name"], "", results.speed_text(run["reference"]["gflops"]), "", "", ""])
    cells.append(["measured peak", "multiply-adds in registers alone", results.speed_text(run["peak_gflops"]), "", "", ""])
    return cells


def answer(run):
    """The outcome in a sentence or two."""
    timed = [row for row in run["rows"] if "gflops" in row and row["ok"]]
    rungs = [row for row in timed if row["rung"].isdigit()]
    where = f"{run['device']['name'].strip()}, {results.runtime_name(run['device'])}"
    if not rungs:
        return f"{where}: no rung has run with a right result."
    fastest = max(rungs, key=lambda row: row["gflops"])
    words = [f"{where}: the fastest rung is {results.name(fastest)}{results.short_setting(fastest, run['rows'])} "
             f"with {results.speed_text(fastest['gflops'])} GFLOP/s"]
    if rungs[0]["rung"] == "1":
        words.append(f"{fastest['gflops'] / rungs[0]['gflops']:.1f} times rung 1")
    text = ", ".join(words + shares(fastest, run)) + "."
    own = next((row for row in timed if is_own(row)), None)
    return text + (f" duogemm's own kernel: {results.speed_text(own['gflops'])} GFLOP/s, " + ", ".join(shares(own, run)) + "." if own else "")


def shares(row, run):
    reference = run["reference"]
    return ([f"{100 * row['gflops'] / reference['gflops']:.0f}% of {reference['name']}"] if reference else []) + \
        [f"{100 * row['gflops'] / run['peak_gflops']:.0f}% of the measured peak"]
