"""Terms and what moves: limits of the model, distances, forces that depend on the time, and the certificate."""
from functools import partial

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.forces import Custom
from screw_dynamics.planning.optimal import (
    Configuration,
    Cost,
    Distance,
    Effort,
    Limit,
    Solver,
    Velocity,
    optimize_motion,
)
from screw_dynamics.planning.optimal.quantities import Nodes
from support.sliders import plotter, slider

MASS, H = 2.0, 0.05


rails = partial(plotter, 0.5 * MASS)       # a mass on two rails at a right angle


def push(t, q, qd, p, tau):
    tau[0] = 4.0 * np.sin(5.0 * t)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_limits_of_the_model_are_kept_on_both_sides(sign):
    robot = rails(limits=sd.Limits(lower=-0.4, upper=0.6, velocity=1.2))
    found = optimize_motion(robot, [Cost(Configuration([2.0 * sign, -2.0 * sign]), 50.0), Cost(Effort(), 1e-3)],
                            [0.0, 0.0], dt=H, steps=14)
    assert found.converged
    assert found.q[-1] == pytest.approx([0.6, -0.4] if sign > 0.0 else [-0.4, 0.6], abs=1e-5)
    assert np.abs(found.qd).max(axis=0) == pytest.approx(1.2, abs=1e-5)
    assert set(found.binding) == {"JointPosition x", "JointPosition y", "Velocity x", "Velocity y"}


@pytest.mark.slow
def test_a_limit_is_exceeded_by_its_scale():
    """What cannot be kept: an end that is 1 m too far, measured by 0.25 m."""
    found = optimize_motion(rails(), [Cost(Effort()), Limit(Configuration([1.0, 0.0]), 0.0, 0.0, "final", scale=0.25)],
                            [0.0, 0.0], dt=H, steps=4, effort_limits=(0.0, 0.0), iterations=3)
    assert not found.converged and found.violation == pytest.approx(4.0)


@pytest.mark.slow
def test_the_certificate_is_0_where_bounds_hold_efforts():
    """A derivative by an effort counts only where it may go that way: at a bound it is large, inwards."""
    terms = [Cost(Configuration([1.0, -1.0]), 1e3, "final"), Cost(Effort(), 1e-3)]
    options = dict(dt=H, steps=6, effort_limits=(-1.0, 1.0))
    found = optimize_motion(rails(), terms, [0.0, 0.0], **options)
    assert found.converged and (np.abs(found.tau) == 1.0).any() and found.stationarity < 1e-9
    before = Solver(rails(), terms, [0.0, 0.0], guess=-found.tau, **options).motion()
    # By the last effort the end moves by h^2 / m of the mass that it moves, and the cost so much times its slope.
    slopes = 1e3 * np.abs(before.q[-1] - [1.0, -1.0]) * H**2 / [MASS, 0.5 * MASS] * 6
    assert before.stationarity == pytest.approx(slopes.max(), rel=1e-3) and not before.converged


@pytest.mark.slow
def test_forces_that_depend_on_the_time_act_at_theirs():
    """Against a push that is known each effort is less by it: the motion is that without, also later in time."""
    terms = [Cost(Configuration([0.5, 0.2]), 50.0, "final"), Cost(Effort(lambda t: np.stack(
        [-4.0 * np.sin(5.0 * t), 0.0 * t], axis=-1)), 1.0)]
    alone = [terms[0], Cost(Effort(), 1.0)]
    pushed = Solver(rails(), terms, [0.0, 0.0], dt=H, steps=8, forces=[Custom(push)])
    free = Solver(rails(), alone, [0.0, 0.0], dt=H, steps=8)
    for found, other in ((pushed.solve(), free.solve()),
                         (pushed.step([0.1, 0.0], [0.0, 0.1], 3, moved=3), free.step([0.1, 0.0], [0.0, 0.1], 3, 3))):
        assert np.abs(found.q - other.q).max() < 1e-9 and found.cost == pytest.approx(other.cost, rel=1e-9)
        assert np.abs(found.tau[:, 0] + 4.0 * np.sin(5.0 * found.t[:-1]) - other.tau[:, 0]).max() < 1e-7
    assert found.t == pytest.approx(H * np.arange(3, 12))
    assert np.abs(pushed.dynamics.gaps(pushed.at.motion)).max() < 1e-12
    q, qd = found.q[0], found.qd[0]
    for k, tau in enumerate(found.tau):
        q, qd = rails().step(q, qd, tau, H, forces=[Custom(push)], t=H * (3 + k))
    assert np.abs(q - found.q[-1]).max() < 1e-9
    gaps = optimize_motion(rails(), terms, [0.0, 0.0], dt=H, steps=8, forces=[Custom(push)],
                           guess=(np.zeros((9, 2)), np.zeros((9, 2)), np.zeros((8, 2))))
    assert gaps.converged and gaps.gap < 1e-9
    _, q, _ = rails().rollout([0.0, 0.0], [0.0, 0.0], gaps.tau, H, 8, forces=[Custom(push)])
    assert np.abs(gaps.q - q).max() < 1e-9


@pytest.mark.slow
def test_a_distance_is_that_between_shapes_and_keeps_away():
    """A ball on rails round another one: no nearer than 0.1 m, with the derivative along the way between centers."""
    scene = sd.Scene(rails(), shapes={"pen": Sphere(0.1)})
    C = np.eye(4)
    C[:2, 3] = 0.5, 0.1
    scene.add_sphere("pole", 0.2, pose=C)
    rng, robot = np.random.default_rng(0), scene.robots
    q = rng.uniform(-2.0, 0.0, (3, 4, 2))
    found = Distance(scene).at(robot, Nodes(np.zeros(4), q, q, None, np.arange(4), np.arange(2), 1), True)
    apart = q - [0.5, 0.1]
    far = np.linalg.norm(apart, axis=-1, keepdims=True)
    assert np.abs(found.r - (far - 0.3)).max() < 1e-12
    assert np.abs(found.by["q"][..., 0, :] - apart / far).max() < 1e-12
    motion = optimize_motion(robot, [Cost(Configuration([1.2, 0.1]), 100.0, "final"), Cost(Velocity(), 0.1),
                                     Cost(Effort(), 1e-3), Limit(Distance(scene), lower=0.1)], [0.0, 0.0], dt=H,
                             steps=16, guess=np.tile([1.0, -2.0], (16, 1)), iterations=200)
    near = np.linalg.norm(motion.q - [0.5, 0.1], axis=-1)
    assert motion.converged and near.min() == pytest.approx(0.4, abs=1e-5)
    assert np.abs(motion.q[-1] - [1.2, 0.1]).max() < 0.05 and set(motion.binding) == {"Distance pen - pole"}
    with pytest.raises(ValueError, match=r"\('pen', 'nose'\) is none of the scene's pairs"):
        optimize_motion(robot, [Cost(Distance(scene, [("pen", "nose")]))], [0.0, 0.0])


@pytest.mark.parametrize("pairs, of_others, says", [
    (None, True, "Distance.scene has the joints x, y, of which the first must be those of the robot, slide$"),
    (5, False, "Distance.pairs must be pairs of names, not 5"), ([7], False, "Distance.pairs: 7 is none of"),
    ([("pen", "nose")], False, r"Distance.pairs: \('pen', 'nose'\) is none of")])
def test_distances_are_of_the_robot_and_of_pairs_that_there_are(pairs, of_others, says):
    scene = sd.Scene(rails(), shapes={"pen": Sphere(0.1)})
    scene.add_sphere("pole", 0.2)
    robot = slider() if of_others else rails()
    with pytest.raises(ValueError, match=says):
        optimize_motion(robot, [Cost(Effort()), Limit(Distance(scene, pairs), 0.1)], robot.neutral(), steps=2)


@pytest.mark.slow
def test_distances_of_the_first_of_several_robots_are_its_own():
    robots = {name: slider() for name in ("left_", "right_")}
    scene = sd.Scene(robots, shapes={"left_cart": Sphere(0.1)}, poses={"right_": sd.se3.exp(np.r_[0, 0, 0, 0, 9.0, 0])})
    scene.add_sphere("pole", 0.2, pose=sd.se3.exp(np.r_[0.0, 0.0, 0.0, 2.0, 0.0, 0.0]))
    found = optimize_motion(slider(), [Cost(Effort(), 1e-3), Cost(Configuration([1.7]), 40.0, "final"),
                                       Limit(Distance(scene, [("left_cart", "pole")]), 0.1)], [0.0], dt=0.1, steps=10)
    assert found.converged and found.q.max() == pytest.approx(1.6, abs=1e-6)


def away(t, q, qd, p, tau):
    tau[0] = 30.0 * qd[0] * abs(qd[0])


@pytest.mark.slow
def test_a_trial_that_diverges_is_a_step_to_shorten():
    """A force that grows as the square of the speed takes trials to infinity, where pairs have no distances."""
    scene, forces = sd.Scene(rails(), shapes={"pen": Sphere(0.1)}), [Custom(away)]
    scene.add_sphere("pole", 0.2, pose=sd.se3.exp(np.r_[0.0, 0.0, 0.0, 0.5, 0.1, 0.0]))
    q0, qd0 = np.array([0.0, -0.3]), np.zeros(2)
    found = optimize_motion(rails(), [Cost(Configuration([3.0, 0.1]), 100.0, "final"), Cost(Effort(), 1e-4),
                                      Limit(Distance(scene), lower=0.1)], q0, qd0, dt=H, steps=16, forces=forces)
    near = np.linalg.norm(found.q - [0.5, 0.1], axis=-1)
    assert found.converged and near.min() == pytest.approx(0.4, abs=1e-5)
    assert np.abs(rails().rollout(q0, qd0, found.tau, H, 16, forces=forces)[1] - found.q).max() < 1e-9


@pytest.mark.slow
def test_a_motion_that_is_not_finite_costs_infinitely_much_and_others_what_they_do():
    solver = Solver(rails(), [Cost(Configuration([1.0, 0.1]), 100.0), Cost(Effort(), 1e-4)],
                    [[0.1, 0.2], [0.3, 0.4]], dt=H, steps=4)
    motion, every = solver.at.motion, np.arange(2)
    expected = solver.objective.take(motion, every)
    assert (expected.cost > 0.0).all()
    for x, wrong in zip(motion, (np.nan, np.inf, -np.inf), strict=True):
        kept, x[1, -1, 0] = x[1, -1, 0], wrong
        found = solver.objective.take(motion, every)
        x[1, -1, 0] = kept
        for name in ("cost", "value"):
            assert getattr(found, name).tolist() == [getattr(expected, name)[0], np.inf]


@pytest.mark.slow
def test_a_motion_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    found = optimize_motion(rails(), [Cost(Configuration([0.5, 0.2]), 50.0, "final"), Cost(Effort(), 1.0)], [0.0, 0.0],
                            dt=H, steps=6)
    axes = found.plot().axes
    assert [len(ax.lines) for ax in axes] == [2, 2, 2, 1] and len(axes[3].lines[0].get_xdata()) == len(found.history)
    assert (axes[2].lines[1].get_ydata() == np.append(found.tau[:, 1], found.tau[-1, 1])).all()
    assert [ax.lines[0].get_drawstyle() for ax in axes] == ["default", "default", "steps-post", "default"]
    axes[0].figure.savefig(tmp_path / "motion.png")
    many = optimize_motion(rails(), [Cost(Effort(), 1.0)], np.zeros((3, 2)), dt=H, steps=2)
    with pytest.raises(ValueError, match=r"one motion, not a batch \(3,\)"):
        many.plot()
    assert "3 motions of 2 steps of 0.05 s: 3 of 3 converged" in many.report()
