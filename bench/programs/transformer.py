#!/usr/bin/env python3
"""A plain PyTorch program in float32: training steps of a transformer. It knows nothing of duogemm.

  transformer.py [STEPS]

Prints one object: each step's time in ms and loss. TF32 is off; data and weights are drawn from a fixed seed.
"""

import json
import sys
import time

import torch

WIDTH, HEADS, LAYERS, LENGTH, BATCH, WORDS = 1024, 16, 6, 512, 8, 8192


def build():
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
    encoder = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    return torch.nn.Sequential(torch.nn.Embedding(WORDS, WIDTH), encoder, torch.nn.Linear(WIDTH, WORDS)).cuda()


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(0)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    words = torch.randint(WORDS, (BATCH, LENGTH), device="cuda")
    target = torch.randint(WORDS, (BATCH * LENGTH,), device="cuda")
    losses, times = [], []
    for _ in range(steps):
        torch.cuda.synchronize()
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(words).flatten(0, 1), target)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
        losses.append(loss.item())
    print(json.dumps({"device": torch.cuda.get_device_name(), "libraries": f"PyTorch {torch.__version__}", "ms": times,
                      "losses": losses}))


if __name__ == "__main__":
    main()
