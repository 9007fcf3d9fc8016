"""Each line has a mistake that a type checker must find."""

import duogemm

duogemm.matmul("a", "b")
duogemm.plan(1, 1, 1, ops="AB")
print(duogemm.ladder()["rows"])
print(duogemm.plan(1, 1, 1)["steps"][0]["kernels"])
duogemm.replay("trace.jsonl", through="paper")
