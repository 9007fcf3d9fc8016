"""The program's commands as functions."""

import json

import pytest

import duogemm
from duogemm._library import FOLDER, cuda_sgemm

pytestmark = pytest.mark.usefixtures("host_device")


def test_devices():
    found = duogemm.devices()
    assert {"number", "backend", "name", "driver"} <= found[0].keys()


def test_plan():
    plan = duogemm.plan(100, 50, 2000, ops="TN", top=2)
    assert plan["problem"]["m"] == 100
    assert plan["problem"]["ops"] == "TN"
    assert plan["steps"][0]["kernel"]
    assert plan["candidates"]


def test_ladder(capfd):
    result = duogemm.ladder(size=64, kernels=[1, "packed"], seconds=0.01)
    assert [row["kernel"] for row in result["runs"][0]["rows"]][:2] == ["naive", "packed"]
    # Warnings are not swallowed, but tables are for those who read them in a terminal.
    told = capfd.readouterr().err
    assert [f"Warning: {warning}" for warning in result["runs"][0]["warnings"]] == told.splitlines()


def test_other_commands():
    compared = duogemm.compare(size=48, against=["none"], seconds=0.01)
    assert compared["runs"][0]["rows"][0]["ok"]
    assert duogemm.explain([1], size=64, seconds=0.01)["kernels"][0]["kernel"] == "naive"
    assert len(duogemm.explain([1, "1,TS=8"], size=64, seconds=0.01)["kernels"]) == 2
    swept = duogemm.sweep(1, {"TS": [8, 16], "size": "32:64:x2"}, seconds=0.01)
    assert [point["at"] for point in swept["points"]] == [[8, 32], [8, 64], [16, 32], [16, 64]]
    assert duogemm.verify(kernels=[1], set={"TS": 8}, size=33)["rows"][0]["tunables"] == {"TS": 8}
    assert duogemm.accuracy(precision=["fp32"], k=[16], inputs="unit", size=64)["ok"]
    assert duogemm.latency(size=16)["first_s"] > 0
    assert "programs" in duogemm.warm()


def test_tune(tmp_path):
    found = duogemm.tune(tmp_path / "tuning.json", budget="2s", ops=["NN"])
    assert found["written"] == (tmp_path / "tuning.json").exists()


def test_replay(tmp_path):
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"schema":"duogemm.trace/1"}\n{"m":8,"n":8,"k":8,"times":3}\n')
    assert duogemm.replay(trace, against="none")["traces"][0]["calls"] == 3


def results():
    """One for each command that has pictures or tables of its own."""
    yield duogemm.ladder(size=64, kernels=[1], seconds=0.01)
    yield duogemm.compare(size=48, seconds=0.01)
    yield duogemm.sweep(1, {"TS": [8, 16]}, size=32, seconds=0.01)
    yield duogemm.sweep(1, {"TS": [8, 16], "size": [32, 64]}, seconds=0.01)
    yield duogemm.plan(10, 10, 10)


def test_frame():
    pandas = pytest.importorskip("pandas")
    for result in results():
        assert len(duogemm.frame(result)) >= 1
        assert "<table" in result._repr_html_()
        assert duogemm.frame(json.loads(json.dumps(result))).equals(duogemm.frame(result))  # as from a file
    assert isinstance(duogemm.frame(result), pandas.DataFrame)
    assert list(duogemm.frame(duogemm.devices())["name"])
    with pytest.raises(duogemm.ArgumentError, match="is no result of"):
        duogemm.frame({"a": 1})


def test_plot():
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    *drawn, plan = results()
    assert [result.plot().get_xlabel() for result in drawn] == ["rung", "FLOP", "TS", "TS"]
    with pytest.raises(duogemm.ArgumentError, match="no picture"):
        plan.plot()


def test_drop_in_libraries_are_there():
    """`duogemm run` preloads what it finds beside the library."""
    assert (FOLDER / "libduogemm_blas.so").exists()
    assert cuda_sgemm is None or (FOLDER / "libduogemm_cublas.so").exists()


def test_refusals():
    with pytest.raises(duogemm.ArgumentError, match="-m: 0 is not in the range"):
        duogemm.plan(0, 1, 1)
    with pytest.raises(duogemm.ArgumentError, match="--seconds"):
        duogemm.ladder(size=64, seconds=-1)
    with pytest.raises(duogemm.ArgumentError, match="nothing.jsonl"):
        duogemm.replay("nothing.jsonl")
    assert json.dumps(duogemm.devices())
