"""The generalized-alpha method: order, constraints, damping, stiff springs."""
import numpy as np
import pytest

from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    SEMIDIRECT,
    Joint,
    MultibodySystem,
    Spring,
    State,
    simulate,
)
from studies.examples import examples

SYSTEMS = {e.name: e.system for e in examples()}
TOP = SYSTEMS["heavy_top"]


@pytest.mark.slow
@pytest.mark.parametrize("group", (SEMIDIRECT, DIRECT))
@pytest.mark.parametrize("name", ("heavy_top", "cardan"))
def test_order_2_and_joints_that_stay_closed(name, group):
    system = SYSTEMS[name].with_groups(group)
    expected = simulate(system, 0.1, 2e-3)
    errors = []
    for dt in (4e-3, 2e-3):
        motion = simulate(system, 0.1, dt, "generalized_alpha")
        errors.append(np.abs(motion.poses[-1] - expected.poses[-1]).max())
        assert max(np.abs(system.residuals(g)).max() for g in motion.poses) < 1e-11
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.35


def test_redundant_constraints():
    system = SYSTEMS["four_bar"]
    motion = simulate(system, 0.05, 1e-3, "generalized_alpha", record={"E": system.energy})
    assert np.abs(system.residuals(motion.poses[-1])).max() < 1e-11
    assert np.abs(motion.recorded["E"] / motion.recorded["E"][0] - 1.0).max() < 1e-2


def test_stiff_springs():
    """A point held by a spring ten thousand times stiffer moves as one held by a joint; RK4 diverges at this step."""
    point = np.array((0.0, 0.1, 0.0))
    springs = [*TOP.springs, Spring("top", point, point_on=(0.5, 0.1, 0.0), stiffness=1e8)]
    frame = np.eye(4)
    frame[:3, 3] = point
    stiff = MultibodySystem(TOP.bodies, TOP.joints, springs)
    held = MultibodySystem(TOP.bodies, [*TOP.joints, Joint("hold", "spherical", "top", frame)], TOP.springs)
    at_rest = State(stiff.initial().poses, np.zeros((1, 6)))
    expected = simulate(held, 0.1, 1e-3, state=at_rest).poses
    found = simulate(stiff, 0.1, 5e-3, "generalized_alpha", state=at_rest, rho=0.2).poses
    assert np.abs(expected[-1] - expected[0]).max() > 0.5 and np.abs(found[-1] - expected[-1]).max() < 0.02
    with np.errstate(all="ignore"), pytest.raises(ArithmeticError, match="the motion is no longer finite: shorter st"):
        simulate(stiff, 0.1, 5e-3, "rk4", state=at_rest)


def test_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match="rho must be from 0 to 1, not 1.5"):
        simulate(TOP, 0.1, 1e-2, "generalized_alpha", rho=1.5)
    stabilized = MultibodySystem(TOP.bodies, TOP.joints, baumgarte=(1.0, 1.0))
    with pytest.raises(ValueError, match=r"baumgarte must be \(0, 0\), not \(1.0, 1.0\)"):
        simulate(stabilized, 0.1, 1e-2, "generalized_alpha")
