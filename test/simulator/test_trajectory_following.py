"""Trajectories on the simulated robot: tracking, outcomes, who takes whose joints, and the same bits."""
import numpy as np
import pytest

from screw_dynamics.simulator.limits import EnforcedLimits
from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.trajectory import Points
from screw_dynamics.simulator.trajectory_following import TrajectoryFollower
from screw_dynamics.simulator.trajectory_goal import Code, Tolerances
from support.real_robots import real_robot
from support.simulations import simulate

SECOND = 1_000_000_000
BOTH = (0, 1)


def points_to(*rows, joints=BOTH, seconds=1.0, effort=None):
    """Points at rest, one after the other."""
    position = np.array(rows, dtype=float)
    zero = np.zeros_like(position)
    times = (np.arange(1, len(rows) + 1) * seconds * SECOND).astype(np.int64)
    given = np.full_like(position, np.nan) if effort is None else np.array(effort, dtype=float)
    return Points(np.array(joints), times, position, zero, zero, given, np.full(len(rows), 2))


class Run:
    """A follower on a simulation that is checked every 10 ms, and the outcomes of its goals by name."""

    def __init__(self, robot, start=None, feed_forward=True, **settings):
        self.simulation = simulate(robot, start, **settings)
        self.follower = TrajectoryFollower(self.simulation, feed_forward)
        self.outcomes, self.at, self.errors = {}, {}, []

    def start(self, group, points, name=None, **tolerances):
        defaults = Tolerances.of(self.simulation.robot.n)

        def finished(outcome):
            assert group not in self.outcomes.get(name, ())
            self.outcomes[name or group], self.at[name or group] = outcome, self.simulation.steps
        return self.follower.start(
            group, points, self.simulation.time_ns, defaults._replace(**tolerances), finished)

    def advance(self, steps, at_a_time=10):
        end = self.simulation.steps + steps
        while self.simulation.steps < end:
            to_check = 10 - self.simulation.steps % 10
            self.simulation.advance(min(at_a_time, to_check, end - self.simulation.steps))
            for goal in self.follower.goals.values():
                self.errors.append(self.follower.error(goal)[1])
            if self.simulation.steps % 10 == 0:
                self.follower.check()


def limit(n, row, value, goal=False):
    table = np.full((3, n), np.inf)
    table[row] = value
    return table


# ------------------------------------------------------------------------------------------------- tracking
@pytest.mark.parametrize("feed_forward", [True, False])
def test_panda_tracks_within_a_milliradian_by_computed_torque_and_arrives(feed_forward):
    robot = real_robot("panda_description/urdf/panda.urdf")
    n = robot.n
    home = {f"panda_joint{i + 1}": q for i, q in enumerate((0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8))}
    run = Run(robot, home, feed_forward)
    arm = np.arange(7)
    start = run.simulation.q[arm]
    rng = np.random.default_rng(3)
    waypoints = start + rng.uniform(-0.4, 0.4, (3, 7))
    waypoints[-1] = start + 0.3
    tolerance = limit(n, 0, 1e-3 if feed_forward else 0.05)
    run.start("arm", points_to(*waypoints, joints=arm, seconds=0.8), goal=tolerance)
    run.advance(2500)
    assert run.outcomes["arm"].code == Code.SUCCESSFUL, run.outcomes
    worst = np.abs(run.errors)[:, 0].max()
    assert (worst < 1e-3) == feed_forward, worst
    assert not run.simulation.saturated.any()       # the limits of the URDF were in force, and not reached
    assert np.isfinite(EnforcedLimits(robot.model, True).effort[arm]).all()
    assert run.at["arm"] == 2400 or not feed_forward
    run.advance(400)
    assert np.allclose(run.simulation.q[arm], waypoints[-1], atol=1e-5)    # it rests there, of its own accord


def test_efforts_of_the_points_replace_those_of_the_model(robot):
    """The right efforts change nothing, and those of another gravity push off the path by M^-1 error / w^2."""
    n, w = robot.n, 50.0
    target = np.array([0.5, -0.5])
    right = robot.inverse_dynamics(target, np.zeros(n), np.zeros(n))

    def resting(effort):
        run = Run(robot, {"shoulder": 0.5, "elbow": -0.5}, servo_bandwidth=w, joint_friction=False)
        run.start("arm", points_to(target, target, effort=[effort, effort])._replace(
            times=np.array([0, SECOND], dtype=np.int64)))
        run.advance(1010)
        assert run.outcomes["arm"].code == Code.SUCCESSFUL
        return run.simulation.q

    assert np.allclose(resting(right), target, atol=1e-9)
    lacking = np.linalg.solve(robot.mass_matrix(target), -0.2 * right) / w**2
    assert np.allclose(resting(0.8 * right) - target, lacking, rtol=0.05)


def test_joint_in_motion_goes_on_from_where_it_should_be_and_an_idle_one_from_where_it_is(robot):
    run = Run(robot, hold_until_first_command=False)
    run.advance(100)                                   # it falls
    q, qd = run.simulation.q, run.simulation.qd
    first = run.start("arm", points_to([0.5, 0.5])).trajectory.sample([run.simulation.time_ns])
    assert np.array_equal(first.position[0], q) and np.array_equal(first.velocity[0], qd) and abs(qd).max() > 0.1
    run.advance(500)
    now = np.array([run.simulation.time_ns])
    before = run.follower.goals["arm"].trajectory.sample(now)
    after = run.start("arm", points_to([-0.5, 0.5]), name="next").trajectory.sample(now)
    assert all(np.allclose(a, b, atol=1e-9) for a, b in zip(before[:3], after[:3], strict=True))
    assert abs(before.acceleration).max() > 0.1
    run.advance(1100)
    assert run.outcomes["arm"].code == Code.INVALID_GOAL and "replaced" in run.outcomes["arm"].text
    assert run.outcomes["next"].code == Code.SUCCESSFUL


# ------------------------------------------------------------------------------------------------- outcomes
def test_path_that_is_left_ends_the_goal_where_the_robot_is(robot):
    run = Run(robot)
    run.start("arm", points_to([1.0, 1.0]), path=limit(robot.n, 0, 0.01))
    run.advance(300)
    run.simulation.push("flange", (0, 0, 0, 0, 0, -400.0), 0.2)    # more than the shoulder can bear
    run.advance(200)
    outcome = run.outcomes["arm"]
    assert outcome.code == Code.PATH_TOLERANCE_VIOLATED
    assert "position is off by" in outcome.text and "tolerance 0.01" in outcome.text and "joint '" in outcome.text
    run.advance(700)
    assert abs(run.simulation.qd).max() < 1e-3 and abs(run.simulation.q - 1.0).max() > 0.1


def test_goal_that_is_not_reached_in_time_says_by_how_much(robot):
    run = Run(robot)
    run.simulation.push("flange", (0, 0, 0, 0, 0, -150.0))         # until the end
    run.start("arm", points_to([0.5, 0.5], seconds=0.3), goal=limit(robot.n, 0, 0.01), goal_time=0.2 * SECOND)
    run.advance(600)
    assert run.outcomes["arm"].code == Code.GOAL_TOLERANCE_VIOLATED and run.at["arm"] == 510
    assert "0.21 s after the end" in run.outcomes["arm"].text and "tolerance 0.01" in run.outcomes["arm"].text


def test_goal_without_a_time_tolerance_waits(robot):
    run = Run(robot)
    run.simulation.push("flange", (0, 0, 0, 0, 0, -150.0), 0.8)
    run.start("arm", points_to([0.5, 0.5], seconds=0.5), goal=limit(robot.n, 0, 0.01))
    run.advance(790)
    assert not run.outcomes
    run.advance(700)
    assert run.outcomes["arm"].code == Code.SUCCESSFUL and run.at["arm"] > 800


def test_goal_that_ends_in_motion_is_reached_in_motion_and_stops_at_its_last_point(robot):
    run = Run(robot)
    moving = points_to([0.5, 0.5], seconds=0.5)._replace(velocity=np.array([[0.5, 0.0]]))
    run.start("arm", moving, goal=limit(robot.n, 1, 0.01))
    run.advance(500)
    assert run.outcomes["arm"].code == Code.SUCCESSFUL and run.simulation.qd[0] > 0.45
    run.advance(400)
    assert np.allclose(run.simulation.q, 0.5, atol=1e-4)


def test_one_point_that_is_far_away_violates_the_path_at_once(robot):
    run = Run(robot)
    run.start("arm", points_to([1.0, 1.0], seconds=0.0), path=limit(robot.n, 0, 0.1))
    run.advance(10)
    assert run.outcomes["arm"].code == Code.PATH_TOLERANCE_VIOLATED


# ------------------------------------------------------------------------------------------------- who commands
def test_groups_run_beside_each_other_and_the_newest_takes_a_joint(robot):
    run = Run(robot)
    run.start("arm", points_to([0.6], joints=[0]))
    run.start("gripper", points_to([0.4], joints=[1]))
    run.advance(500)
    run.start("all", points_to([0.1, 0.2]))
    assert run.outcomes["arm"].text == "joint 'shoulder': a new trajectory of all replaced it"
    assert run.outcomes["gripper"].text.startswith("joint 'elbow'") and list(run.follower.goals) == ["all"]
    run.advance(1100)
    assert run.outcomes["all"].code == Code.SUCCESSFUL and np.allclose(run.simulation.q, (0.1, 0.2), atol=1e-3)


def test_command_takes_its_joints_and_the_others_rest(robot):
    run = Run(robot, command_timeout=0.0)
    run.start("arm", points_to([0.6, 0.6]))
    run.advance(500)
    shoulder = run.simulation.q[0]
    run.follower.release(np.array([False, True]), "commanded")
    run.simulation.command(np.array([np.nan, 1.5]))
    assert run.outcomes["arm"].code == Code.INVALID_GOAL and run.outcomes["arm"].text == "joint 'elbow': commanded"
    run.advance(300)
    assert run.simulation.joint_state().effort[1] == 1.5
    assert abs(run.simulation.q[0] - shoulder) < 0.03
    run.follower.release(np.array([True, True]), "commanded")
    assert run.simulation.reference is None


def test_cancel_and_abort_rest_where_the_joints_are_and_a_reset_lets_go(robot):
    run = Run(robot)
    run.start("arm", points_to([0.6, 0.6]))
    run.advance(500)
    run.follower.abort("enough")
    assert run.outcomes["arm"] == (Code.INVALID_GOAL, "enough")
    run.advance(400)
    assert abs(run.simulation.qd).max() < 1e-3 and abs(run.simulation.q - 0.35).max() < 0.1
    run.simulation.reset()
    run.advance(10)
    assert np.array_equal(run.simulation.q, (0.0, 0.0))    # brakes
    run.follower.release(np.array([True, False]), "commanded")
    assert run.simulation.reference is None
    run.start("arm", points_to([0.6], joints=[0]), name="again")
    assert not run.simulation.reference.sample(np.array([0])).mask[1]
    run.advance(1100)
    assert run.outcomes["again"].code == Code.SUCCESSFUL


def test_continuous_joints_take_the_short_way_and_others_the_one_that_is_given():
    """Each of them by itself: a goal may be for any joints of a robot, in any order."""
    robot = real_robot("kinova_description/robots/kinova.urdf")
    continuous = [kind == "continuous" for kind in robot.model.joint_kinds]
    assert any(continuous) and not all(continuous)
    both = [continuous.index(True), continuous.index(False)]
    for joints in ([i] for i in range(robot.n)), (both, both[::-1]):
        for chosen in joints:
            run = Run(robot)
            q = run.simulation.q[chosen]
            run.start("arm", points_to(q + 4 * np.pi + 0.2, joints=chosen))
            last = run.follower.goals["arm"].trajectory.sample([99 * SECOND]).position[0, :len(chosen)]
            turns = np.where(np.array(continuous)[chosen], 0.0, 4 * np.pi)
            assert last == pytest.approx(q + 0.2 + turns)


def test_a_goal_that_begins_when_another_ends_starts_where_the_joint_is(robot):
    """A trajectory is over at its last point: what the servos lack there is not carried on."""
    run = Run(robot, feed_forward=False)
    first = run.start("arm", points_to([0.5, 0.5], seconds=0.2)).trajectory
    run.advance(200)
    assert run.simulation.time_ns == first.end
    q, now = run.simulation.q, np.array([first.end])
    assert np.abs(q - 0.5).max() > 1e-3
    after = run.start("arm", points_to([0.0, 0.0]), name="next").trajectory.sample(now)
    assert after.position[0].tolist() == q.tolist() and not after.acceleration.any()


def test_bits_and_outcomes_do_not_depend_on_how_many_steps_are_made_at_a_time(robot):
    results = []
    for at_a_time in (10, 1, 7):
        run = Run(robot, command_timeout=0.0)
        run.simulation.command(np.array([np.nan, 1.0]))
        right = robot.inverse_dynamics(*np.zeros((3, 2)))[:1]
        run.start("arm", points_to([0.6], [0.2], joints=[0], seconds=0.3, effort=[right, 1.1 * right]))
        run.simulation.push("flange", (0, 0, 0, 0, 0, -3.0), 0.05)
        run.advance(700, at_a_time)
        results.append((run.simulation.q.tobytes(), run.simulation.qd.tobytes(), run.at["arm"]))
    assert len(set(results)) == 1


def test_efforts_of_zero_among_others_replace_those_of_the_model_however_many_steps_at_a_time(robot):
    target, w, states = np.array([0.5, -0.5]), 50.0, []
    for at_a_time in (10, 1, 7):
        run = Run(robot, {"shoulder": 0.5, "elbow": -0.5}, servo_bandwidth=w, joint_friction=False)
        efforts = [[20.0, 5.0], [0.0, 0.0], [0.0, 0.0]]
        run.start("arm", points_to(*[target] * 3, seconds=0.2025, effort=efforts))      # zero from 0.405 s on
        run.advance(600, at_a_time)
        states.append(run.simulation.q.tobytes() + run.simulation.qd.tobytes())
    assert len(set(states)) == 1
    lacking = np.linalg.solve(robot.mass_matrix(target), -robot.gravity_torque(target)) / w**2
    assert np.allclose(run.simulation.q - target, lacking, rtol=0.05)


def test_what_has_ended_stays_where_it_is_when_time_restarts(robot):
    run = Run(robot)
    run.start("arm", points_to([0.5], joints=(0,)))
    run.start("arm", points_to([0.3], joints=(1,)), name="others")    # the shoulder goes on, without a goal
    run.advance(1500)
    assert np.allclose(run.simulation.q, (0.5, 0.3), atol=1e-3)
    before = run.simulation.q
    run.follower.abort("time restarts")
    run.simulation.restart_clock()
    run.advance(500)
    assert np.allclose(run.simulation.q, before, atol=1e-5)


# ------------------------------------------------------------------------------------------------- watches
def test_watches_are_called_at_their_steps_however_many_are_made_at_a_time(robot):
    simulation = simulate(robot)
    calls = {"threes": [], "published": []}
    runner = Runner(simulation, 1.0, 10, lambda: calls["published"].append(simulation.steps), paused=True)
    runner.watches[lambda: calls["threes"].append(simulation.steps)] = 3
    for steps in (1, 1, 5, 4, 9, 1):
        runner.step(steps, lambda reason: None)
        while runner.stepping:              # on a busy machine the steps take more than one turn
            runner.work()
    assert calls["threes"] == [3, 6, 9, 12, 15, 18, 21]
    assert {10, 20} <= set(calls["published"])
