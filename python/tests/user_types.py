"""A user's program, for type checkers: what is right below, and what they must find wrong in user_mistakes.py."""

import numpy

import duogemm

a = numpy.ones((3, 4), dtype=numpy.float32)
c = duogemm.matmul(a, a.T, alpha=2.0, precision="f16x3")
total: float = float(c.sum())

climb = duogemm.ladder(size=512, kernels=[1, "packed"], seconds=0.1)
for run in climb["runs"]:
    fastest: float = max(row["gflops"] for row in run["rows"] if "gflops" in row)
    reference = run["reference"]
    print(run["device"]["name"], fastest, reference["gflops"] if reference is not None else None)

compared = duogemm.compare(size=64, against=["none"])
for problem in compared["runs"][0]["rows"]:
    print(problem["label"], problem.get("gflops"))
table = duogemm.frame(compared)
print(len(table), climb.plot().get_title())
names: list[str] = [step["kernel"] for step in duogemm.plan(100, 100, 100, ops="TN")["steps"]]
print(duogemm.devices()[0]["name"], duogemm.warm(jobs=1), duogemm.tune("out.json", budget="1s")["written"], total, names)
