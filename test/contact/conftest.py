"""Kernels of pairs of shapes take long to compile: these tests are slow ones where they are compiled, and run among the
fast ones in plain Python, by ../scene/test_in_plain_python.py."""
import pytest

from screw_dynamics.numbers.values import PLAIN

COMPILED = "test_pairs.py", "test_convex_pairs.py", "test_detection.py"


def pytest_collection_modifyitems(items):
    for item in items:
        if not PLAIN and item.path.parent.name == "contact" and item.path.name in COMPILED:
            item.add_marker(pytest.mark.slow)
