"""How a check ends that CTest calls: with a line that says why."""

import sys


def expect(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def skip(reason):
    """CTest takes the status as skipped."""
    print(f"skipped: {reason}")
    sys.exit(77)
