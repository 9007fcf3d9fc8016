"""What switches change: the same kernel with and without."""

import results
import style
from results import SWITCHES


def effects_in_sweep(document):
    """Of a sweep over switches: paired, because all points of a shape took turns."""
    effects = []
    ran = [point for point in document["points"] if "row" in point and "time" in point["row"]]
    for with_it in ran:
        for without in ran:
            toggle = toggled(without["row"]["tunables"], with_it["row"]["tunables"])
            if toggle and all(with_it[size] == without[size] for size in "mnk"):
                effects.append(effect(toggle, without["row"], with_it["row"], document, with_it["m"], "in turns"))
    return effects


def toggled(before, after):
    """The one switch that is off before and on after, where all else is the same."""
    different = [name for name in before if before[name] != after.get(name)]
    return different[0] if len(different) == 1 and different[0] in SWITCHES and after[different[0]] == 1 else None


def effect(toggle, without, with_it, run, size, how, variant=""):
    low, middle, high = results.quartiles_of_ratio(without["time"]["seconds"], with_it["time"]["seconds"])
    extra = [other for other in SWITCHES if other != toggle and with_it["tunables"].get(other) == 1]
    name = f"{toggle.replace('USE_', '')}\n{results.name(with_it)}{variant}"
    return {"name": name + "".join(f"\nwith {other.replace('USE_', '')}" for other in extra),
            "runtime": results.runtime_name(run["device"]), "device": run["device"]["name"], "caption": results.device_caption(run),
            "size": size, "how": how,
            "low": 100 * (low - 1), "middle": 100 * (middle - 1), "high": 100 * (high - 1)}


def effects_between(documents):
    """Of ladders that were run one after the other, with another switch or another cache preference."""
    effects = []
    runs = [(document, run) for document in documents for run in document["runs"]]
    for document, run in runs:
        for other_document, other in runs:
            if run is other or run["device"]["name"] != other["device"]["name"] or run["device"]["backend"] != other["device"]["backend"] \
                    or any(run[size] != other[size] for size in "mnk"):
                continue
            effects += effects_between_runs(document, run, other_document, other)
    # Of several pairs of runs that say the same, the first.
    return list({(e["name"], e["runtime"], e["device"], e["size"]): e for e in reversed(effects)}.values())[::-1]


def effects_between_runs(document, run, other_document, other):
    effects = []
    same_cache = document["cache_preference"] == other_document["cache_preference"]
    for row in run["rows"]:
        variant = results.short_setting(row, run["rows"], without=SWITCHES)
        for with_it in other["rows"]:
            if "time" not in row or "time" not in with_it or row["kernel"] != with_it["kernel"]:
                continue
            toggle = toggled(row["tunables"], with_it["tunables"])
            if toggle and same_cache:
                effects.append(effect(toggle, row, with_it, run, run["m"], "separate runs", variant))
            elif row["tunables"] == with_it["tunables"] and not same_cache and document["cache_preference"] == "none":
                cache = "cache " + other_document["cache_preference"]
                effects.append(effect(cache, row, with_it, run, run["m"], "separate runs", variant))
    return effects


def toggles(effects):
    """By how many percent a kernel becomes faster; of effects on one device."""
    names = list(dict.fromkeys(effect["name"] for effect in effects))
    variants = list(dict.fromkeys((effect["runtime"], effect["how"]) for effect in effects))
    figure, axis = style.bars_figure(names, len(variants))
    height = 0.8 / len(variants)
    for place, variant in enumerate(variants):
        chosen = [effect for effect in effects if (effect["runtime"], effect["how"]) == variant]
        places = [names.index(effect["name"]) + (place - (len(variants) - 1) / 2) * height for effect in chosen]
        axis.barh(places, [e["middle"] for e in chosen], height, label=", ".join(variant), error_kw=style.WHISKERS,
                  xerr=[[e["middle"] - e["low"] for e in chosen], [e["high"] - e["middle"] for e in chosen]], **style.bar_style(place))
    axis.axvline(0.0, color="black", linewidth=1)
    axis.set_xlabel("percent faster by the switch (quartiles)")
    style.title(axis, *dict.fromkeys(effect["caption"] for effect in effects), f"M=N=K={effects[0]['size']}")
    words = [f"{effect['name']}, {effect['runtime']} {effect['middle']:+.1f}%".replace("\n", " ") for effect in effects]
    return style.finish(figure, axis, 1), "Change of speed with the switch on: " + ", ".join(words) + "."
