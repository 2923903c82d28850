"""The README's Python for a user runs as it stands, prints what it says, and quotes the code that is there."""
import inspect
import math
import re
import textwrap

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.inverse_dynamics.body_fixed import newton_euler
from support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
RESEARCHERS = README.split("## For researchers")[1].split("\n## ")[0]


def block(start):
    """The one block that begins so."""
    text, = (text for _, text in BLOCKS if text.startswith(start))
    return text


@pytest.fixture
def names():
    """What stands before: a robot of screws, and a state and its derivatives."""
    names = {"sd": sd, "math": math}
    exec(block('builder = sd.ModelBuilder("base")'), names)
    return names | dict(zip(("q", "qd", "qdd", "qddd"), np.random.default_rng(0).normal(size=(4, 2)), strict=True))


def test_formulations_run_and_agree(names):
    code = block("from screw_dynamics.formulations")
    assert code in RESEARCHERS
    efforts = []
    for line in code.splitlines():
        exec(line, names)
        if line.startswith("tau"):
            efforts.append(names["tau"])
    assert names["J"].shape == (12, 2) and names["Vdd"].shape == (2, 6)
    expected = names["robot"].inverse_dynamics(names["q"], names["qd"], names["qdd"])
    assert len(efforts) == 2 and all(np.abs(tau - expected).max() < 1e-12 for tau in efforts)


def test_symbolic_equations_are_what_is_printed(names, capsys):
    exec(block('builder = sd.ModelBuilder("rail")'), names)
    assert capsys.readouterr().out == block("M(q) qdd")


def test_a_macro_joint_is_added_as_documented(names):
    call, = re.findall(r"`builder\.(add_macro_joint\(.+?\))`", README)
    builder = sd.ModelBuilder("trunk")
    eval(f"builder.{call}", {"builder": builder})
    assert builder.build().joint_names == ("hip_rx", "hip_ry", "hip_rz")


def test_inverse_dynamics_is_quoted_whole():
    """But for the comments."""
    def bare(text):
        return re.sub(r" *#.*", "", text).strip()
    source = inspect.getsource(getattr(newton_euler, "py_func", newton_euler))
    assert bare(block("V[0], Vd[0], W[0]")) == bare(textwrap.dedent(source.split("n = len(parent) - 1\n")[1]))
