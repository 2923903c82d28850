"""Goals of a gripper: reached, stalled in simulated time, and with no more effort than they allow."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.gripper import GripperGoal, GripperRules
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.trajectory_following import TrajectoryFollower
from screw_dynamics.simulator.trajectory_goal import Code, Tolerances
from support import planar_arm as arm

RULES = GripperRules(goal_tolerance=0.01, stall_velocity_threshold=0.001, stall_timeout=0.5, allow_stalling=False)
STOP = 3.0      # rad, of both joints


class Hand:
    """The arm without gravity, its elbow a gripper that is checked every 10 ms."""

    def __init__(self, start=0.0, **settings):
        robot = sd.Robot.from_urdf(arm.urdf()).with_gravity((0.0, 0.0, 0.0))
        self.simulation = Simulation(robot, Settings(command_timeout=0.0, **settings), {"elbow": start})
        self.joint = robot.joint_names.index("elbow")
        self.follower = TrajectoryFollower(self.simulation)
        self.efforts, self.speeds = [], []

    def close(self, position, rules=RULES, **limits):
        """The outcomes, which are to come, of a goal that starts now, and the goal."""
        goal, outcomes = GripperGoal(self.simulation, self.joint, position, rules, **limits), []
        self.follower.start("hand", goal.points, self.simulation.time_ns, Tolerances.of(self.simulation.robot.n),
                            outcomes.append, goal.limit, goal.judge)
        return goal, outcomes

    def run(self, seconds):
        """Let time pass, and note effort and speed of each 10 ms."""
        for _ in range(round(seconds * 100)):
            before = self.position
            self.simulation.advance(10)
            self.follower.check()
            self.efforts.append(self.effort)
            self.speeds.append(abs(self.position - before) * 100.0)

    @property
    def effort(self):
        return self.simulation.snapshot().effort[self.joint]

    @property
    def position(self):
        return self.simulation.q[self.joint]


@pytest.mark.parametrize("position", [0.4, -0.4])
def test_a_goal_is_reached_within_its_tolerance_and_held(position):
    hand = Hand()
    goal, outcomes = hand.close(position)
    while not outcomes:
        before = hand.position
        hand.run(0.01)
    assert (outcomes[0].code, goal.reached, goal.stalled) == (Code.SUCCESSFUL, True, False)
    assert abs(before - position) > 0.01 > abs(hand.position - position)
    hand.run(1.0)
    assert len(outcomes) == 1 and abs(hand.position - position) < 1e-6


@pytest.mark.parametrize("allowed", [False, True])
def test_a_gripper_at_its_stop_is_stalled_after_the_timeout_and_presses_on_with_the_largest_effort(allowed):
    hand = Hand(start=STOP)
    goal, outcomes = hand.close(STOP + 0.2, RULES._replace(allow_stalling=allowed), max_effort=4.0)
    hand.run(0.5)
    assert not outcomes
    hand.run(0.02)
    assert (goal.reached, goal.stalled) == (False, True)
    assert [outcome.code == Code.SUCCESSFUL for outcome in outcomes] == [allowed]
    hand.run(0.5)
    assert hand.effort == pytest.approx(4.0) and hand.position == pytest.approx(STOP)


def test_time_to_a_stall_counts_from_the_last_motion():
    """It stands still against its stop from the moment on at which it arrives there."""
    hand = Hand(start=STOP - 1.0)
    _, outcomes = hand.close(STOP + 0.5, max_velocity=1.0)
    arrival = None
    while not outcomes and hand.simulation.steps < 5000:
        hand.run(0.01)
        if arrival is None and hand.speeds[-1] <= RULES.stall_velocity_threshold:
            arrival = hand.simulation.time_ns * 1e-9
    assert arrival > 0.7
    assert hand.simulation.time_ns * 1e-9 - arrival == pytest.approx(RULES.stall_timeout, abs=0.021)


def test_effort_stays_below_the_largest_and_velocity_below_the_largest():
    fast, slow = Hand(), Hand()
    fast.close(1.0)
    slow.close(1.0, max_effort=1.5, max_velocity=0.5)
    for hand in (fast, slow):
        hand.run(1.0)
    assert max(map(abs, fast.efforts)) > 10.0 and max(fast.speeds) > 2.0
    assert max(map(abs, slow.efforts)) <= 1.5 and max(slow.speeds) < 0.55
    assert 0.2 < slow.position < 0.4


def test_who_takes_the_joint_over_has_its_whole_effort_and_a_cancelled_goal_rests():
    hand = Hand(start=STOP)
    _, outcomes = hand.close(STOP + 0.2, max_effort=2.0)
    hand.run(0.1)
    assert hand.effort == pytest.approx(2.0)
    hand.follower.release(np.arange(hand.simulation.robot.n) == hand.joint, "a command took it over")
    assert [outcome.code for outcome in outcomes] == [Code.INVALID_GOAL]
    effort = np.full(hand.simulation.robot.n, np.nan)
    effort[hand.joint] = 7.0
    hand.simulation.command(effort)
    assert hand.effort == pytest.approx(7.0)
    other = Hand()
    _, outcomes = other.close(1.0, max_effort=1.5, max_velocity=0.5)
    other.run(0.5)
    other.follower.cancel("hand", "cancelled")
    rest = other.position
    other.run(1.0)
    assert outcomes == ["cancelled"] and abs(other.position - rest) < 0.02


@pytest.mark.parametrize(("fields", "says"), [
    ({"position": float("nan")}, "position is nan, must be finite"),
    ({"position": 0.1, "max_effort": -1.0}, "max_effort is -1.0, must be finite and >= 0"),
    ({"position": 0.1, "max_velocity": float("inf")}, "max_velocity is inf, must be finite and >= 0"),
])
def test_numbers_that_are_none_are_refused(fields, says):
    hand = Hand()
    with pytest.raises(ValueError, match=says):
        GripperGoal(hand.simulation, hand.joint, rules=RULES, **fields)
