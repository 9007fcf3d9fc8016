#!/usr/bin/env python3
"""How fast settings of the kernel `grouped` are, for groups of many rows and of few: python/measure/grouped_settings.py.

Prints a line for each setting, rows of a group and way of storing the matrices, of which W^T is that of torch.nn.Linear, with microseconds.
The settings in common/families/tiled.cpp come from here.
"""

import os

import torch

import duogemm.torch

GROUPS, COLUMNS, K = 64, 2048, 2048
EVERY = "LANE_ORDER=1,BYTES=1,FMA_ORDER=2"
SETTINGS = (
    "TSM=128,TSN=64,WPTM=8,WPTN=8,LANES_M=8,STAGES=3",
    "TSM=128,TSN=64,WPTM=8,WPTN=8,LANES_M=16,STAGES=3,K_MAJOR=1",
    "TSM=128,TSN=128,WPTM=8,WPTN=8,LANES_M=8,STAGES=3",
    "TSM=64,TSN=64,WPTM=8,WPTN=8,LANES_M=8,STAGES=3",
    "TSM=128,TSN=32,WPTM=8,WPTN=4,LANES_M=8,STAGES=3,RESIDENT=3",
    "TSM=128,TSN=16,TSK=32,WPTM=4,WPTN=4,LANES_M=16,STAGES=2,RESIDENT=4",
    "TSM=64,TSN=16,TSK=32,WPTM=4,WPTN=4,LANES_M=16,STAGES=2,RESIDENT=8",
    "TSM=128,TSN=8,TSK=32,WPTM=4,WPTN=4,LANES_M=16,STAGES=2,RESIDENT=4",
)
MOST_ROWS = (8, 32, 64, 128, 512)


def microseconds(call):
    """The least of a few times ten calls."""
    call()
    times = []
    for _ in range(4):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(10):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 100)
    return min(times)


def main():
    torch.manual_seed(1)
    weights = torch.rand(GROUPS, COLUMNS, K, device="cuda") - 0.5
    for most in MOST_ROWS:
        sizes = torch.randint(1, most + 1, (GROUPS,)).tolist()
        rows = torch.randn(sum(sizes) + len(SETTINGS), K, device="cuda")
        ends = torch.tensor(sizes, device="cuda").cumsum(0).to(torch.int32)
        for more, setting in enumerate(SETTINGS):
            os.environ["DUOGEMM_FORCE"] = f"grouped:{setting},{EVERY}"
            for name, matrices in (("W^T", weights.mT), ("W", weights)):
                own = rows[: sum(sizes) + more]  # a plan of its own
                taken = microseconds(lambda: duogemm.torch.grouped_mm(own, matrices, offs=ends))
                print(f"up to {most} rows, {name}, {setting}: {taken:.0f}", flush=True)


if __name__ == "__main__":
    main()
