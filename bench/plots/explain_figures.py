"""Figures of explanations."""

import results
import style

# What is stacked on the multiply-adds, from the left.
PARTS = [("local loads", ("local_load",)), ("global loads", ("global_load", "copy")), ("stores", ("local_store", "global_store")),
         ("stack", ("stack_load", "stack_store")), ("shuffles, barriers", ("shuffle", "barrier")), ("additions", ("addition",)),
         ("addresses, moves", ("arithmetic",)), ("control", ("control",))]


def names_of(kernels):
    return [results.name(kernel) + results.short_setting(kernel, kernels).replace(" ", "\n", 1) for kernel in kernels]


def explained(document):
    """The kernels with a main loop, by backend."""
    groups = {}
    for kernel in document["kernels"]:
        if kernel["loop"]:
            groups.setdefault(kernel["backend"], []).append(kernel)
    return groups


def bounded(kernels):
    return [kernel for kernel in kernels if kernel["bounds"] and kernel["gflops"]]


def instructions(kernel, kind):
    """Of a kind in the main loop; older files lack some kinds."""
    return kernel["loop"]["kinds"].get(kind, {"instructions": 0})["instructions"]


def mix(kernels):
    """Instructions of the main loop besides the multiply-adds, for each of them; of kernels of one runtime."""
    names = names_of(kernels)
    figure, axis = style.bars_figure(names)
    starts = [0.0] * len(kernels)
    for place, (title, kinds) in enumerate(PARTS):
        widths = [sum(instructions(k, kind) for kind in kinds) / instructions(k, "multiply_add") for k in kernels]
        if any(widths):
            axis.barh(range(len(kernels)), widths, 0.7, left=starts, label=title, **style.bar_style(place))
        starts = [start + width for start, width in zip(starts, widths)]
    axis.set_xlabel("instructions for each multiply-add")
    style.title(axis, *dict.fromkeys(f"{kernel['compiled_for']}; {kernel['language']}" for kernel in kernels))
    words = [f"{name} {start:.2f}".replace("\n", " ") for name, start in zip(names, starts)]
    return style.finish(figure, axis, 2), "Instructions besides each multiply-add: " + ", ".join(words) + "."


def bounds(kernels, document):
    """Measured speed beside the lowest bound; of kernels of one runtime."""
    names = names_of(kernels)
    figure, axis = style.bars_figure([f"{name}\n{kernel['bounds'][0]['name']}" for name, kernel in zip(names, kernels)], 2)
    places = range(len(kernels))
    axis.barh([i - 0.2 for i in places], [k["gflops"] for k in kernels], 0.4, label="measured", **style.bar_style(0))
    axis.barh([i + 0.2 for i in places], [k["bounds"][0]["gflops"] for k in kernels], 0.4, label="the lowest bound, which the name tells",
              **style.bar_style(1))
    axis.set_xlabel("GFLOP/s")
    style.count_speeds(axis)
    (device,) = [entry for entry in document["devices"] if entry["device"]["backend"] == kernels[0]["backend"]]
    style.title(axis, f"{results.device_caption(device)}; {results.size_caption(document)}")
    words = [f"{name} {results.speed_text(k['gflops'])} of {results.speed_text(k['bounds'][0]['gflops'])} ({k['bounds'][0]['name']})"
             .replace("\n", " ") for name, k in zip(names, kernels)]
    return style.finish(figure, axis, 1), "GFLOP/s, measured and lowest bound: " + ", ".join(words) + "."


def in_steps(kernels):
    """Those whose plans have several steps."""
    return [kernel for kernel in kernels if kernel.get("steps")]


def steps(kernels):
    """What each step takes of a plan's time, and what is known of tensor cores; of kernels of one runtime."""
    names = names_of(kernels)
    figure, axis = style.bars_figure(names)
    starts = [0.0] * len(kernels)
    for place, title in enumerate(dict.fromkeys(step["name"] for kernel in kernels for step in kernel["steps"])):
        widths = [1e6 * sum(step["seconds"] for step in kernel["steps"] if step["name"] == title) for kernel in kernels]
        axis.barh(range(len(kernels)), widths, 0.7, left=starts, label=title, **style.bar_style(place))
        starts = [start + width for start, width in zip(starts, widths)]
    axis.set_xlabel("us")
    style.title(axis, *dict.fromkeys(kernel["compiled_for"] for kernel in kernels))
    words = []
    for name, kernel in zip(names, kernels):
        parts = ", ".join(f"{step['name']} {1e6 * step['seconds']:.1f}" for step in kernel["steps"])
        cores = kernel["tensor_cores"]
        if cores and cores["utilisation"]:
            parts += f"; {100 * cores['utilisation']:.0f} percent of the tensor cores' rate, promotion {100 * cores['promotion']:.0f} percent of it"
        words.append(f"{name} {parts}".replace("\n", " "))
    return style.finish(figure, axis, 2), "Microseconds of each step: " + "; ".join(words) + "."
