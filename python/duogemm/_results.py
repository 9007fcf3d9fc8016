"""What the program's commands have measured: dictionaries that a notebook shows as tables and that can be drawn.

Their types, for type checkers, stand in _results.pyi, which the build makes of the result files' schema (python/make_stub.py).
"""

from ._library import ArgumentError


class Result(dict):
    """A result file of a command as a dictionary (bench/schema/README.md says what the members mean)."""

    @property
    def kind(self):
        """Which command it is of: "ladder", "compare", and so on."""
        return self["schema"].partition(".")[2].partition("/")[0]

    def _repr_html_(self):
        try:
            table = frame(self)
        except ImportError:
            return None  # without pandas it shows as any dictionary
        return table.drop(columns=[name for name in table.columns if name.endswith(".seconds")]).to_html(index=False, na_rep="")

    def plot(self, ax=None):
        """Draws the result of ladder(), compare() or sweep() with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. A figure of its own by default.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.

        Raises
        ------
        ArgumentError
            For results of other commands, which have no picture.
        """
        draw = _PICTURES.get(self.kind)
        if draw is None:
            raise ArgumentError(f"a result of {self.kind}() has no picture; those of {', '.join(sorted(_PICTURES))} have")
        if ax is None:
            import matplotlib.pyplot

            ax = matplotlib.pyplot.figure().add_subplot()
        draw(self, ax)
        return ax


# What type checkers tell apart is one class when the program runs.
Accuracy = Compare = Devices = Explain = Ladder = Latency = Plan = Replay = Sweep = Tune = Verify = Result


def _of_runs(result):
    """The rows of all devices, with what tells them apart."""
    return [{"backend": run["device"]["backend"], "device": run["device"]["name"], **{size: run[size] for size in "mnk" if size in run},
             **row} for run in result["runs"] for row in run["rows"]]


_ROWS = {
    "accuracy": lambda result: [{"input": row["input"], "k": row["k"], "bound": row["bound"], **error}
                                for row in result["rows"] for error in row["errors"]],
    "compare": lambda result: [{**{name: value for name, value in row.items() if name != "others"},
                                **{other["title"]: other["ratio"] for other in row.get("others", []) if "ratio" in other}}
                               for row in _of_runs(result)],
    "devices": lambda result: [{"number": entry["number"], **entry["device"]} for entry in result["devices"]],
    "explain": lambda result: result["kernels"],
    "ladder": _of_runs,
    "latency": lambda result: [{name: value for name, value in result.items() if name not in ("schema", "version", "date", "device")}],
    "plan": lambda result: result["steps"],
    "replay": lambda result: result["traces"],
    "sweep": lambda result: [{**dict(zip((axis["name"] for axis in result["axes"]), point["at"])), **point.get("row", {})}
                             for point in result["points"]],
    "tune": lambda result: result["compared"]["rows"],
    "verify": lambda result: result["rows"],
}


def frame(result):
    """The rows of a result as a table.

    Parameters
    ----------
    result : Result
        What a command has answered, as a function of this package or as json.load() has read it from a file.

    Returns
    -------
    pandas.DataFrame
        A row for each rung, problem, point, step or trace. In a result of compare(), a column named after another library has its
        time over duogemm's.

    Raises
    ------
    ArgumentError
        Where it is no result.
    """
    import pandas

    if isinstance(result, list):
        return pandas.DataFrame(result)
    rows = _ROWS.get(Result(result).kind) if isinstance(result, dict) and "schema" in result else None
    if rows is None:
        raise ArgumentError(f"{type(result).__qualname__} is no result of {', '.join(sorted(_ROWS))}")
    return pandas.json_normalize(rows(result))


def _draw_ladder(result, ax):
    for run in result["runs"]:
        rows = [row for row in run["rows"] if "gflops" in row]
        names = [row["rung"] or row["kernel"] for row in rows]
        ax.plot(names, [row["gflops"] for row in rows], "o-", label=f"{run['device']['name']}, {run['device']['backend']}")
        if run["reference"]:
            ax.axhline(run["reference"]["gflops"], linestyle="--", color="0.5", label=run["reference"]["name"])
    ax.set(xlabel="rung", ylabel="GFLOP/s", yscale="log")
    ax.legend()


def _draw_compare(result, ax):
    rows = frame(result)
    for title in dict.fromkeys(other["title"] for run in result["runs"] for other in run["others"]):
        if title in rows:
            ax.plot(2.0 * rows["m"] * rows["n"] * rows["k"] * rows["batch"], rows[title], ".", label=title)
    ax.axhline(1.0, color="0.5", label="as long")
    ax.set(xlabel="FLOP", ylabel="the other library's time over duogemm's", xscale="log")
    ax.legend()


def _draw_sweep(result, ax):
    rows = frame(result).reindex(columns=[*(axis["name"] for axis in result["axes"]), "gflops"])
    first, *second = (axis["name"] for axis in result["axes"])
    if not second:
        ax.plot(rows[first], rows["gflops"], "o-")
        ax.set(xlabel=first, ylabel="GFLOP/s")
        return
    table = rows.pivot(index=second[0], columns=first, values="gflops")
    image = ax.imshow(table, origin="lower", aspect="auto")
    ax.set(xlabel=first, ylabel=second[0], xticks=range(len(table.columns)), xticklabels=table.columns, yticks=range(len(table.index)),
           yticklabels=table.index)
    ax.figure.colorbar(image, ax=ax, label="GFLOP/s")


_PICTURES = {"compare": _draw_compare, "ladder": _draw_ladder, "sweep": _draw_sweep}
