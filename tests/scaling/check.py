#!/usr/bin/env python3
"""tools/scaling.py: limits in which its simulation is known, bytes that can be counted, and its table in docs/scaling.md."""

import math
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import scaling  # noqa: E402


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools/scaling.py", *arguments], capture_output=True, text=True, check=False)


class Pipeline(unittest.TestCase):
    def test_hides_the_shorter_of_both(self):
        self.assertAlmostEqual(scaling.pipeline(10, 0.0, 2.0), 20.0)
        self.assertAlmostEqual(scaling.pipeline(10, 1.9, 2.0), 20.0)
        self.assertAlmostEqual(scaling.pipeline(1, 100.0, 2.0), 2.0)
        # The first operands are there; the last product follows the last arrival.
        self.assertAlmostEqual(scaling.pipeline(10, 3.0, 2.0), 9 * 3.0 + 2.0)

    def test_memory_for_two_steps_is_enough(self):
        for receive in (0.5, 1.0, 2.0):
            self.assertGreaterEqual(scaling.pipeline(8, receive, 1.0), max(8.0, 7 * receive + 1.0) - 1e-9)


class Ways(unittest.TestCase):
    def test_bytes(self):
        n = 65536
        matrix = 4 * n * n
        self.assertAlmostEqual(scaling.ring(scaling.FP32, n, 8)[1], matrix * 7 / 8)
        self.assertAlmostEqual(scaling.summa(scaling.FP32, n, 64)[1], 2 * matrix / 8 * 7 / 8)

    def test_no_way_beats_the_bound_on_communication(self):
        """Irony, Toledo and Tiskin (2004): with memory for `held` numbers each, n^3 / (P sqrt(8 held)) - held arrive."""
        for gpus, copies in ((64, 1), (64, 4), (1024, 1), (1024, 4)):
            n = 262144
            held = 3 * copies * n * n / gpus
            bound = n ** 3 / (gpus * math.sqrt(8 * held)) - held
            self.assertGreaterEqual(scaling.summa(scaling.FP32, n, gpus, copies)[1] / scaling.FLOAT, bound)

    def test_never_above_one(self):
        for gpus in (2, 8, 64, 1024):
            for n in scaling.sizes(gpus):
                for name, way in scaling.ways(gpus):
                    seconds, _ = way(scaling.F16X3, n, gpus)
                    self.assertLessEqual(scaling.efficiency(scaling.F16X3, n, gpus, seconds), 1.0 + 1e-9, name)

    def test_the_tile_of_a_gpu_decides(self):
        """Four times the GPUs and twice the size: the same efficiency, up to the edges of the grid."""
        few, many = (scaling.efficiency(scaling.F16X3, n, gpus, scaling.summa(scaling.F16X3, n, gpus)[0])
                     for n, gpus in ((80000, 64), (160000, 256)))
        self.assertAlmostEqual(few, many, delta=0.06)


class Program(unittest.TestCase):
    def test_the_page_has_its_table(self):
        self.assertIn(scaling.sizes_table(), (ROOT / "docs/scaling.md").read_text())
        self.assertIn(scaling.sizes_table(), run().stdout)

    def test_compares_what_was_measured(self):
        answer = run("--measured", "32768", "1.28", "0.66")
        self.assertIn("measured 0.970 of two GPUs; one has 55.0 TFLOP/s", answer.stdout)

    def test_refuses(self):
        answer = run("--measured", "32768", "0", "1")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("all above 0", answer.stderr)


if __name__ == "__main__":
    unittest.main()
