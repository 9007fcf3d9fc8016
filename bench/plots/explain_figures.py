"""Figures of explanations."""

import results
import style
from style import plt

# What is stacked on the multiply-adds, from the bottom.
PARTS = [("local loads", ("local_load",)), ("global loads", ("global_load", "copy")), ("stores", ("local_store", "global_store")),
         ("stack", ("stack_load", "stack_store")), ("shuffles, barriers", ("shuffle", "barrier")),
         ("addresses, moves", ("arithmetic",)), ("control", ("control",))]


def names_of(kernels):
    return [f"{kernel['rung']} {kernel['kernel']}".strip() + results.short_setting(kernel, kernels).replace(" ", "\n", 1)
            for kernel in kernels]


def explained(document):
    return [kernel for kernel in document["kernels"] if kernel["loop"]]


def panels(kernels):
    """A figure with a row for each runtime, and for each its axis and kernels."""
    backends = list(dict.fromkeys(kernel["backend"] for kernel in kernels))
    groups = [[kernel for kernel in kernels if kernel["backend"] == backend] for backend in backends]
    width = max(7, 0.75 * max(len(group) for group in groups) + 3)
    figure, axes = plt.subplots(len(groups), 1, figsize=(width, 5 * len(groups)), sharey=True, squeeze=False)
    return figure, list(zip(axes.flat, groups))


def finish(axis, kernels):
    axis.set_xticks(range(len(kernels)), names_of(kernels), rotation=40, ha="right", fontsize=8)
    axis.grid(False, axis="x")


def mix(document):
    """Instructions of the main loop besides the multiply-adds, for each of them."""
    figure, rows = panels(explained(document))
    highest = 0.0
    for axis, kernels in rows:
        bottoms = [0.0] * len(kernels)
        for place, (title, kinds) in enumerate(PARTS):
            heights = [sum(k["loop"]["kinds"][kind]["instructions"] for kind in kinds) / k["loop"]["kinds"]["multiply_add"]["instructions"]
                       for k in kernels]
            if any(heights):
                axis.bar(range(len(kernels)), heights, 0.7, bottom=bottoms, label=title, **style.bar_style(place))
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights)]
        highest = max(highest, *bottoms)
        axis.set_ylabel("instructions for each multiply-add")
        style.title(axis, *dict.fromkeys(f"{kernel['compiled_for']}; {kernel['language']}" for kernel in kernels))
        axis.legend(loc="upper left", ncol=4)
        finish(axis, kernels)
    rows[0][0].set_ylim(0, 1.35 * highest)  # room for the legend
    figure.tight_layout()
    return figure


def bounds(document):
    """Measured speed beside the lowest bound."""
    kernels = [kernel for kernel in explained(document) if kernel["bounds"] and kernel["gflops"]]
    captions = {device["device"]["backend"]: results.device_caption(device) for device in document["devices"]}
    divisor, unit = style.scale_of([kernel["bounds"][0]["gflops"] for kernel in kernels])
    highest = max(k["bounds"][0]["gflops"] for k in kernels) / divisor
    figure, rows = panels(kernels)
    for axis, kernels in rows:
        axis.bar([i - 0.2 for i in range(len(kernels))], [k["gflops"] / divisor for k in kernels], 0.4, label="measured", **style.bar_style(0))
        axis.bar([i + 0.2 for i in range(len(kernels))], [k["bounds"][0]["gflops"] / divisor for k in kernels], 0.4,
                 label="lowest bound", **style.bar_style(1))
        for place, kernel in enumerate(kernels):
            axis.text(place + 0.2, kernel["bounds"][0]["gflops"] / divisor + 0.01 * highest, kernel["bounds"][0]["name"], rotation=90,
                      ha="center", va="bottom", fontsize=7)
        axis.set_ylabel(unit)
        style.title(axis, f"{captions[kernels[0]['backend']]}; {results.size_caption(document)}")
        axis.legend(loc="upper left")
        finish(axis, kernels)
    rows[0][0].set_ylim(0, 1.6 * highest)
    figure.tight_layout()
    return figure
