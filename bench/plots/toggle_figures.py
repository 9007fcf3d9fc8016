"""What switches change: the same kernel with and without."""

import itertools

import results
import style
from page import Section
from results import SWITCHES


def sections(effects, name):
    for number, (device, size) in enumerate(dict.fromkeys((effect["device"], effect["size"]) for effect in effects), 1):
        chosen = [effect for effect in effects if (effect["device"], effect["size"]) == (device, size)]
        how = " and ".join(dict.fromkeys(effect["how"] for effect in chosen))
        yield Section(f"{name}_{number}", f"What switches change: {device.strip()}, M=N=K={size}, {how}",
                      "By how many percent a kernel is faster with a switch on. Paired samples: those taken in turns, or in the same order in "
                      "separate runs.", [picture(chosen)])


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
        variant = results.short_setting(row, run["rows"], without=SWITCHES)
        switch = toggled(row["tunables"], with_it["tunables"])
        if switch and same_cache:
            yield effect(switch, row, with_it, run, run["m"], "separate runs", variant)
        elif row["tunables"] == with_it["tunables"] and not same_cache and document["cache_preference"] == "none":
            yield effect(f"cache {other_document['cache_preference']}", row, with_it, run, run["m"], "separate runs", variant)


def toggled(before, after):
    """The one switch that is off before and on after, where all else is the same."""
    different = [name for name in before if before[name] != after.get(name)]
    return different[0] if len(different) == 1 and different[0] in SWITCHES and after[different[0]] == 1 else None


def effect(switch, without, with_it, run, size, how, variant=""):
    low, middle, high = (100 * (ratio - 1) for ratio in results.quartiles_of_ratio(without["time"]["seconds"], with_it["time"]["seconds"]))
    extra = [other for other in SWITCHES if other != switch and with_it["tunables"].get(other) == 1]
    name = f"{switch.replace('USE_', '')}\n{results.name(with_it)}{variant}" + "".join(f"\nwith {other.replace('USE_', '')}" for other in extra)
    return {"name": name, "runtime": results.runtime_name(run["device"]), "device": run["device"]["name"], "caption": results.device_caption(run),
            "size": size, "how": how, "low": low, "middle": middle, "high": high}


def picture(effects):
    """By how many percent a kernel becomes faster; of effects on one device."""
    names = list(dict.fromkeys(effect["name"] for effect in effects))
    variants = list(dict.fromkeys((effect["runtime"], effect["how"]) for effect in effects))
    figure, axis = style.bars_figure(names, len(variants))
    height = 0.8 / len(variants)
    for index, variant in enumerate(variants):
        chosen = [effect for effect in effects if (effect["runtime"], effect["how"]) == variant]
        positions = [names.index(effect["name"]) + (index - (len(variants) - 1) / 2) * height for effect in chosen]
        axis.barh(positions, [e["middle"] for e in chosen], height, label=", ".join(variant), error_kw=style.WHISKERS,
                  xerr=[[e["middle"] - e["low"] for e in chosen], [e["high"] - e["middle"] for e in chosen]], **style.bar_style(index))
    axis.axvline(0.0, color="black", linewidth=1)
    axis.set_xlabel("percent faster by the switch (quartiles)")
    style.title(axis, *dict.fromkeys(effect["caption"] for effect in effects), f"M=N=K={effects[0]['size']}")
    return style.finish(figure, axis, "Percent faster with the switch on", 1)
