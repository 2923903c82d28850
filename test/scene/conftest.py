"""Kernels of contacts take a minute or two to compile: tests that compile many are slow ones, but in plain
Python."""
import pytest

from screw_dynamics.numbers.values import PLAIN

COMPILED = ("test_clearance.py", "test_contact_derivatives.py", "test_self_collision.py", "test_scene_view.py")


def pytest_collection_modifyitems(items):
    for item in items:
        if not PLAIN and item.path.parent.name == "scene" and item.path.name in COMPILED:
            item.add_marker(pytest.mark.slow)
