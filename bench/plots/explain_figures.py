"""Explanations: bounds, steps and what main loops consist of."""

import results
import style
from page import Section

# What is stacked on the multiply-adds, from the left.
PARTS = [("local loads", ("local_load",)), ("global loads", ("global_load", "copy")), ("stores", ("local_store", "global_store")),
         ("stack", ("stack_load", "stack_store")), ("shuffles, barriers", ("shuffle", "barrier")), ("additions", ("addition",)),
         ("addresses, moves", ("arithmetic",)), ("control", ("control",))]

# Of what a section shows: its name and title, which kernels it needs, its text, and what draws it.
KINDS = [("bounds", "Speed and bounds", lambda kernel: kernel["bounds"] and kernel["gflops"],
          "What was measured, and the lowest bound with what sets it.", lambda kernels, document: bounds(kernels, document)),
         ("steps", "Steps", lambda kernel: kernel.get("steps"),
          "What a plan takes longer with each step than without it and all after it.", lambda kernels, _: steps(kernels)),
         ("mix", "What main loops consist of", lambda kernel: True, "From the compiled kernels.", lambda kernels, _: mix(kernels))]


def sections(documents):
    for number, document in enumerate(documents, 1):
        where = f"{', '.join(dict.fromkeys(entry['device']['name'].strip() for entry in document['devices'])) or 'compiled only'}, " \
                f"{results.size_caption(document)}"
        looped = [kernel for kernel in document["kernels"] if kernel["loop"]]
        for name, title, has, text, draw in KINDS:
            groups = [[kernel for kernel in looped if kernel["backend"] == backend and has(kernel)]
                      for backend in dict.fromkeys(kernel["backend"] for kernel in looped)]
            pictures = [draw(kernels, document) for kernels in groups if kernels]
            if pictures:
                yield Section(f"{name}_{number}", f"{title}: {where}", text, pictures)


def names_of(kernels):
    return [results.name(kernel) + results.short_setting(kernel, kernels).replace(" ", "\n", 1) for kernel in kernels]


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
    rows = range(len(kernels))
    axis.barh([i - 0.2 for i in rows], [k["gflops"] for k in kernels], 0.4, label="measured", **style.bar_style(0))
    axis.barh([i + 0.2 for i in rows], [k["bounds"][0]["gflops"] for k in kernels], 0.4, label="the lowest bound, which the name tells",
              **style.bar_style(1))
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
