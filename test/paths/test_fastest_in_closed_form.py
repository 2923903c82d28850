"""The fastest motions of a mass on a slide, which the theory of optimal control has in closed form."""
import numpy as np
import pytest
from scipy.optimize import brentq

import screw_dynamics as sd
from screw_dynamics.planning.paths import time_optimal
from support.sliders import MASS, slider

LENGTH, A, V, G = 3.0, 2.0, 1.5, 9.81
LINE = [[0.0], [LENGTH]]


def there_and_brake(speed_up, brake, length=LENGTH):
    """The duration of the greatest acceleration, then of the greatest deceleration: for constant ones."""
    top = np.sqrt(2.0 * length / (1.0 / speed_up + 1.0 / brake))
    return top / speed_up + top / brake


def with_drag(force, stop, drag, m=MASS):
    """The same under forces that fall with speed: m v' = force - drag v, then m v' = -stop - drag v."""
    fastest, lowest, tau = force / drag, stop / drag, m / drag
    braking = lambda v: tau * np.log1p(v / lowest)                                           # noqa: E731

    def beyond(t):
        v = fastest * (1.0 - np.exp(-t / tau))
        there = fastest * t - tau * v
        return there + tau * v - lowest * braking(v) - LENGTH
    t = brentq(beyond, 1e-6, 100.0, xtol=1e-14)
    return t + braking(fastest * (1.0 - np.exp(-t / tau)))


def test_bang_bang():
    found = time_optimal(slider(), LINE, acceleration=A)
    assert found.duration == pytest.approx(2.0 * np.sqrt(LENGTH / A), rel=1e-12)
    assert found.qdd[[0, 400, 600, -1], 0] == pytest.approx([A, A, -A, -A], rel=1e-9)
    assert set(found.binding) == {"acceleration of 'slide'"}
    assert found.binding_times() == {"acceleration of 'slide'": pytest.approx(found.duration)}


def test_trapezium():
    found = time_optimal(slider(velocity=V), LINE, acceleration=A, points=999)
    assert found.duration == pytest.approx(LENGTH / V + V / A, rel=1e-6)
    middle = found.at(0.5 * found.duration)
    assert (middle.qd[0], middle.qdd[0]) == pytest.approx((V, 0.0), abs=1e-9)
    assert set(found.binding) >= {"velocity of 'slide'", "acceleration of 'slide'"}


def test_what_a_motion_tells_of_itself():
    """At rest dry friction is against the way on; what binds is used up, and what is not is no limit that binds."""
    found = time_optimal(slider(effort=10.0, velocity=V, friction=2.0), LINE, points=97)
    assert found.tau[[0, -1], 0] == pytest.approx([10.0, -10.0])            # 8 N are left to speed up, 12 N to brake
    assert found.duration == pytest.approx(LENGTH / V + 0.5 * V * MASS * (1.0 / 8.0 + 1.0 / 12.0), rel=1e-4)
    assert ((found.share >= 0.999) == (np.array(found.binding) != "")).all()
    samples = found.at(np.linspace(0.0, found.duration, 50))
    assert samples.q[:, 0] == pytest.approx(LENGTH * samples.s) and (np.diff(samples.s) > 0.0).all()


def test_from_one_velocity_to_another():
    v0, v1 = 1.2, 0.7
    found = time_optimal(slider(), LINE, acceleration=A, start_speed=v0 / LENGTH, end_speed=v1 / LENGTH, points=5000)
    top = np.sqrt(A * LENGTH + 0.5 * (v0 * v0 + v1 * v1))
    assert found.duration == pytest.approx((2.0 * top - v0 - v1) / A, rel=1e-6)
    assert found.qd[[0, -1], 0] == pytest.approx([v0, v1], rel=1e-9)
    assert found.t[-1] == found.duration and found.q[-1, 0] == pytest.approx(LENGTH)


def test_gravity_and_armature():
    effort, B = 50.0, 0.6
    found = time_optimal(slider((0.0, 0.0, 1.0), effort, armature=B), LINE, points=5000)
    weight, m = MASS * G, MASS + B
    assert found.duration == pytest.approx(there_and_brake((effort - weight) / m, (effort + weight) / m), rel=1e-7)
    assert found.tau[[0, -1], 0] == pytest.approx([effort, -effort])


def test_a_wrench_from_outside_is_as_gravity():
    up = time_optimal(slider((0.0, 0.0, 1.0), 50.0), LINE)
    pushed = time_optimal(slider((1.0, 0.0, 0.0), 50.0), LINE, external={"cart": [0, 0, 0, -MASS * G, 0, 0]})
    assert pushed.duration == pytest.approx(up.duration, rel=1e-12)
    assert pushed.qdd[[0, -1], 0] == pytest.approx([50.0 / MASS - G, -50.0 / MASS - G])


def test_viscous_and_dry_friction():
    effort, damping, dry = 10.0, 3.0, 2.0
    robot = slider(effort=effort, damping=damping, friction=dry)
    found = time_optimal(robot, LINE, points=4000)
    assert found.duration == pytest.approx(with_drag(effort - dry, effort + dry, damping), rel=1e-3)
    assert np.abs(found.at(np.linspace(0.0, found.duration, 501)[1:-1]).tau).max() <= effort * (1.0 + 1e-4)
    without = time_optimal(robot, LINE, points=2000, friction=False)
    assert without.duration == pytest.approx(2.0 * np.sqrt(LENGTH * MASS / effort), rel=1e-9)


def test_a_spring_and_a_damper_of_the_robots_own():
    """With full effort F against a spring, and then back: arcs of circles about F / k and -F / k in the plane of x and
    x' / w, which meet where the work of both is that of the spring, F x - F (d - x) = k d^2 / 2."""
    F, k, d = 10.0, 5.0, 1.0
    held = slider(effort=F).with_forces([sd.forces.Spring("slide", k)])
    found, w, x = time_optimal(held, [[0.0], [d]], points=300), np.sqrt(k / MASS), 0.5 * d + k * d**2 / (4.0 * F)
    exact = (np.arccos(1.0 - k * x / F) + np.arccos((x + F / k) / (d + F / k))) / w
    assert found.duration == pytest.approx(exact, rel=1e-3)
    assert np.abs(found.tau[:, 0] - MASS * found.qdd[:, 0] - k * found.q[:, 0]).max() < 1e-9
    damped, same = (time_optimal(robot, [[0.0], [d]], points=100).duration for robot in (
        slider(effort=F).with_forces([sd.forces.Spring("slide", 0.0, damping=2.0)]), slider(effort=F, damping=2.0)))
    assert damped == pytest.approx(same, rel=1e-9)


def test_forces_of_the_robots_own_that_are_not_linear_are_refused():
    worn = slider(effort=10.0).with_forces([sd.forces.Friction("slide", coulomb=2.0)])
    with pytest.raises(ValueError, match="Friction.joint='slide'.* is not linear in velocity"):
        time_optimal(worn, [[0.0], [1.0]])
    assert time_optimal(worn, [[0.0], [1.0]], friction=False).duration == pytest.approx(2.0 * np.sqrt(0.2), rel=1e-6)


def test_a_share_of_efforts_is_one_of_those_given_and_of_those_of_the_model():
    share, effort = 0.4, 10.0
    expected = 2.0 * np.sqrt(LENGTH * MASS / (share * effort))
    for robot, given in ((slider(effort=effort), None), (slider(effort=1.0), effort), (slider(), {"slide": effort})):
        found = time_optimal(robot, LINE, effort=given, effort_scaling=share)
        assert found.duration == pytest.approx(expected, rel=1e-9)


def test_torque_that_falls_with_speed():
    """A motor against its own turning has more than its stall torque: both ends are lines through the same slope."""
    ratio, stall, no_load = 20.0, 0.5, 60.0
    drive = sd.Drive(0.0, ratio=ratio, torque_speed=sd.drive.TorqueSpeed(stall, no_load))
    for share in (1.0, 0.3):            # of the torque at each speed: the no-load speed stays
        found = time_optimal(slider().with_drives({"slide": drive}), LINE, points=4000, effort_scaling=share)
        force = share * stall * ratio
        expected = with_drag(force, force, force / (no_load / ratio))
        assert found.duration == pytest.approx(expected, rel=1e-3)
        assert set(found.binding) <= {"torque over speed of 'slide'", ""} and found.binding.count("") < 3


def test_a_motor_does_not_turn_faster_than_without_load():
    """Not even downwards, where the weight would drive it."""
    ratio, stall, no_load = 20.0, 5.0, 60.0
    drive = sd.Drive(0.0, ratio=ratio, torque_speed=sd.drive.TorqueSpeed(stall, no_load))
    found = time_optimal(slider((0.0, 0.0, 1.0)).with_drives({"slide": drive}), LINE[::-1], points=200)
    assert found.qd.min() == pytest.approx(-no_load / ratio)


def test_jerk_alone():
    jerk = 5.0
    found = time_optimal(slider(), LINE, jerk=jerk, points=300)
    shortest = (32.0 * LENGTH / jerk) ** (1.0 / 3.0)
    assert shortest * (1.0 - 1e-9) <= found.duration <= 1.01 * shortest


def test_jerk_acceleration_and_velocity():
    """Seven phases: a ramp of the acceleration lasts A / J, and the velocity V is reached in V / A + A / J."""
    jerk = 8.0
    found = time_optimal(slider(velocity=V), LINE, acceleration=A, jerk=jerk, points=300)
    shortest = LENGTH / V + V / A + A / jerk
    assert shortest * (1.0 - 1e-9) <= found.duration <= 1.01 * shortest
    worst = found.worst(5)
    assert worst.share <= 1.0 + 1e-3
