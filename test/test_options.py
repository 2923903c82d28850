"""Every option of a public function is checked: what it is not is refused by name, not taken for something else.

Options are told by their annotations, so that one that is added is tried too."""
import inspect
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from support.calls import calls, label, rare
from support.paths import ROOT

NAN = math.nan
WRONG = {
    "bool": ("yes", 0.5, 1, None, np.ones(3)), "bool | None": ("no", 0.5, 1),
    "int": ("a", 2.5, NAN, math.inf, -1, None, [1], 2 + 1j), "int | None": ("a", 2.5, NAN, [1]),
    "Threads": ("a", 0, -1, 2.5, NAN, [1]),
    "float": ("a", NAN, None, [1.0, 2.0], 1j), "float | None": ("a", NAN, [1.0, 2.0], 1j),
    "str": ("nonsense", 3, None), "str | None": ("nonsense", 3)}


def options(function):
    """(name, annotation) of the options of a function."""
    for parameter in inspect.signature(function).parameters.values():
        kind = parameter.annotation
        kind = kind if isinstance(kind, str) else getattr(kind, "__name__", None) if isinstance(kind, type) else str(
            kind)
        if kind in WRONG:
            yield parameter.name, kind


CASES = [(function, given, name, kind) for function, given in calls() for name, kind in options(function)]
FREE_TEXT = {"source": 3, "joint": "", "name": "", "root": ""}      # what the caller chooses, and what it may not be


@pytest.mark.parametrize("function, given, name, kind", [
    pytest.param(*case, id=f"{label(case[0])}, {case[2]}", marks=rare(case[0].__name__))
    for case in CASES])
def test_an_option_that_is_none_is_refused_by_name(function, given, name, kind):
    new_link = function.__name__.startswith("add_") and name == "link" and "joint" in given or (
        function.__name__ == "add_fixed" and name == "link")
    for wrong in WRONG[kind]:
        if isinstance(wrong, str) and (name in FREE_TEXT or new_link):
            wrong = FREE_TEXT.get(name, "")
        with pytest.raises(ValueError) as caught:
            function(**{**given, name: wrong})
        message = str(caught.value)
        assert name in message.replace(" ", "_") or NAMES.get(name, name) in message, (wrong, message)
        assert not any(text in message for text in ("ufunc", "broadcast", "unsupported", "Numba")), message


# What a message calls an argument, where that is not its name.
NAMES = {"reference": "link", "on": "link", "base_link": "base_link", "parent": "parent link", "order": "order",
         "root": "name of a link"}


HEAVY = "ClosedLoopRobot.rollout"          # kernels that no other fast test needs, half a minute of them
IN_PLAIN_PYTHON = f"""
from support.calls import calls, label
for function, given in calls():
    if label(function) == {HEAVY!r}:
        function(**given)
        print("right")
"""


@pytest.mark.parametrize("function, given", [
    pytest.param(f, g, marks=[pytest.mark.slow] * (label(f) == HEAVY) or rare(f.__name__))
    for f, g in {id(f): (f, g) for f, g, *_ in CASES}.values()], ids=lambda x: label(x) if callable(x) else "")
def test_the_arguments_of_the_calls_are_right(function, given):
    """Else they would be refused for another reason."""
    try:
        function(**given)
    except ValueError as error:
        assert "samples" in str(error) or "equations" in str(error)     # recordings that are too short to fit


@pytest.mark.slow
def test_the_arguments_of_heavy_calls_are_right_in_plain_python():
    """The same kernels, not compiled: in two seconds."""
    done = subprocess.run([sys.executable, "-c", IN_PLAIN_PYTHON], cwd=ROOT / "test", capture_output=True, text=True,
                          env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0 and "right" in done.stdout, done.stderr
