"""Examples of robots that touch do what they print."""
import runpy

import numpy as np
import pytest

from support.paths import ROOT

pytestmark = pytest.mark.slow


def example(name):
    """The names of an example."""
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def test_a_ball_rises_to_the_square_of_the_restitution():
    heights = example("bouncing_ball")["main"]()
    assert heights[1:] / heights[:-1] == pytest.approx(0.64, rel=1e-6)


@pytest.mark.parametrize("seconds, bound", [((), 1e-9), ((60.0,), 1e-6)])
def test_a_tower_of_ten_blocks_is_at_rest(seconds, bound):
    moved, carried = example("tower")["main"](*seconds)
    assert moved < bound
    assert carried == pytest.approx(98.1, rel=1e-9)


def test_a_quadruped_that_is_pushed_comes_back_and_slides_on_ice():
    found = example("quadruped_pushed")["main"]()
    assert found["carried"] == pytest.approx(found["weight"], rel=1e-5)
    assert found["sway"] > 1.0                              # mm
    assert abs(found["back"]) < 1e-3
    assert found["slipped"] < 5.0                           # um: rolled out and back in steps, 0.6 mm
    assert found["slid"] > 20.0                             # mm


def test_a_gripper_carries_a_box_if_friction_does_and_drops_it_in_free_fall():
    found = example("gripper")["main"]()
    assert found["height"] == pytest.approx(0.2, abs=5e-3)  # the lift's servo gives a little
    assert found["slip"] < 1e-9
    assert found["fall"] == pytest.approx(found["expected"], abs=3e-3)      # the fingers open, and a step
    assert found["loose"] < 1e-9


def test_wheels_roll_on_a_floor_and_spin_on_ice():
    found = example("drive")["main"]()
    assert abs(found["slip"]) < 1e-9
    assert found["gone"] == pytest.approx(0.988, abs=1e-2)
    assert found["acceleration"] == pytest.approx(found["most"], rel=1e-3)
    assert found["speed"] < 0.6 * found["rim"]


def test_an_arm_presses_with_the_force_that_it_is_told():
    found = example("press_on_table")["main"]()
    assert found["force"].mean() == pytest.approx(10.0, rel=1e-3)
    assert found["off"] < 0.05                              # N
    assert found["line"] < 2e-4                             # m
    np.testing.assert_allclose(found["friction"], 0.3, rtol=1e-9)
