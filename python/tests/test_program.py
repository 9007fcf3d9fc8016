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


def test_ladder():
    if all(device["backend"] == "cpu" for device in duogemm.devices()):
        pytest.skip("no device compiles the rungs")
    result = duogemm.ladder(size=64, kernels=[1, "tiled"], seconds=0.01)
    assert [row["ok"] for row in result["runs"][0]["rows"]] == [True, True]


def test_tune(tmp_path):
    found = duogemm.tune(tmp_path / "tuning.json", budget="2s", ops=["NN"])
    assert found is None or found["device"]


def test_replay(tmp_path):
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"schema":"duogemm.trace/1"}\n{"m":8,"n":8,"k":8,"times":3}\n')
    assert duogemm.replay(trace, against="none")["traces"][0]["calls"] == 3


def test_frame():
    pandas = pytest.importorskip("pandas")
    plan = duogemm.plan(10, 10, 10)
    assert isinstance(duogemm.frame(plan), pandas.DataFrame)
    assert list(duogemm.frame(duogemm.devices())["name"])


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
