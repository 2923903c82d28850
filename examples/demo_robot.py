"""The robot of the demo: its URDF, damping that lets a motion die out, and a pose to fall from that is worth seeing."""

import warnings
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

import numpy as np
from demo_graph import LOOK_BACK

import screw_dynamics as sd
from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.simulator.simulation import Simulation

# Seconds in which joint damping takes a factor e off the speed of a coasting joint, and when the robot is caught. The
# first attempt is taken with which it comes to float at the part LIVELY of its first height.
ATTEMPTS = ((0.6, "swinging up"), (1.0, "swinging up"), (1.6, "swinging up"), (0.1, "falling"))
LIVELY = 0.2
SWING = (1.5, 3.0)        # seconds after the release between which it is caught swinging up
RISING = 0.02             # part of the energy that is still kinetic then: it coasts a little
HALFWAY = 0.7             # of the first height is where it is caught falling
TRIALS, BEST = 64, 8      # poses to fall from, and how many of them, the liveliest, are followed until the robot floats
STEP, EVERY = 1e-3, 10    # seconds; steps between two looks at the energy
RELAY = 4                 # steps between two torques while it is held
SETTLES = 5.0             # seconds in which it comes to rest after that
REST = 5e-4, 1e-2         # kinetic energy and change of potential energy at rest, as parts of the first height


class Plan(NamedTuple):
    """URDF text with damping for the simulator, where the robot starts and how much energy it has there (J, above its
    lowest), and when to catch it (s after the release)."""

    text: str
    start: dict
    height: float
    takeover: float


def read(urdf):
    """The robot at a path or package:// address, and its text; ValueError if it cannot fall."""
    text = read_urdf_file(urdf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)     # they are in robot.warnings too
        robot = sd.Robot.from_urdf(text)
    if robot.n == 0:
        raise ValueError(f"{urdf}: the robot has no movable joint")
    return robot, text


def name(text):
    """The name of the robot in the URDF."""
    return ElementTree.fromstring(text.encode()).get("name") or "robot"


def plan(robot, text, say):
    """Choose damping, pose and moment; ValueError when gravity moves nothing."""
    home = Simulation(robot).q   # refuses what cannot be simulated, by name
    inertia = robot.mass_matrix(home).diagonal()
    for settle, moment in ATTEMPTS:
        damping = inertia / settle
        text = with_damping(text, dict(zip(robot.joint_names, damping, strict=True)))
        damped = sd.Robot.from_urdf(text)
        trials = sorted((fall(damped, pose, moment) for pose in poses(robot, home)), key=lambda trial: -trial.swing)
        floating, best = max(((float_height(damped, t), t) for t in trials[:BEST]), key=lambda pair: pair[0])
        if floating > LIVELY * best.height:
            break
    if not best.height > 1e-6:
        raise ValueError("gravity moves no joint of this robot: there is nothing to show")
    say("   Gravity compensation carries the weight, it does not brake: without friction the arm would coast for ever.")
    say(f"   So the simulated joints get damping, {damping.min():.2g} to {damping.max():.2g} N m s or N s/m, instead "
        "of the URDF's friction")
    return Plan(text, dict(zip(robot.joint_names, best.pose.tolist(), strict=True)), best.height, best.caught)


def with_damping(text, damping):
    """The URDF text with the given damping {joint: value}, and no other friction, in its joints."""
    root = ElementTree.fromstring(text.encode())
    for joint in root.findall("joint"):
        if joint.get("name") in damping:
            dynamics = joint.find("dynamics")
            if dynamics is None:
                dynamics = ElementTree.SubElement(joint, "dynamics")
            dynamics.set("damping", repr(float(damping[joint.get("name")])))
            dynamics.set("friction", "0")
    return ElementTree.tostring(root, encoding="unicode")


def poses(robot, home):
    """Poses (n,) round a resting one, well inside the limits."""
    lower, upper = np.maximum(robot.limits.lower, home - np.pi), np.minimum(robot.limits.upper, home + np.pi)
    span = upper - lower
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        pose = home + rng.uniform(-1.2, 1.2, robot.n) * np.minimum(1.0, span / 2)
        yield np.clip(pose, lower + 0.1 * span, upper - 0.1 * span)


class Fall(NamedTuple):
    """A fall from a pose: when the robot should be caught (s), its state there, and potential energies above the lowest
    (J), of the pose and of the swing it is caught in."""

    pose: np.ndarray
    caught: float
    state: tuple
    height: float
    swing: float


def fall(robot, pose, moment):
    """Let it fall, and choose when to catch it: "swinging up", or "falling" (for what falls on its stops and stays)."""
    steps = round(SWING[1] / STEP)
    _, q, qd = robot.rollout(pose, np.zeros(robot.n), dt=STEP, steps=steps, every=EVERY, friction=True, limits=True)
    kinetic, potential = energies(robot, q, qd)
    if not np.isfinite(kinetic + potential).all():
        return Fall(pose, SWING[0], (q[0], qd[0]), 0.0, -np.inf)
    if moment == "falling":
        caught = top = int(np.argmax(potential < HALFWAY * potential[0]))
    else:
        first = round(SWING[0] / STEP / EVERY)
        tops = [i for i in range(first, len(q) - 1) if potential[i - 1] <= potential[i] > potential[i + 1]] or [first]
        caught = top = max(tops, key=lambda i: potential[i])
        while caught > first and kinetic[caught] < RISING * (kinetic[caught] + potential[caught]):
            caught -= 1
    return Fall(pose, caught * EVERY * STEP, (q[caught], qd[caught]), potential[0], min(potential[0], potential[top]))


def float_height(robot, trial):
    """The potential energy (J), as in the trial, at which it comes to rest under gravity compensation."""
    q, qd = trial.state
    caught = robot.potential_energy(q)
    for _ in range(round(SETTLES / STEP / RELAY)):
        _, x, v = robot.rollout(q, qd, robot.gravity_torque(q), dt=STEP, steps=RELAY, friction=True, limits=True)
        q, qd = x[-1], v[-1]
    return trial.swing + robot.potential_energy(q) - caught


def energies(robot, q, qd):
    """Kinetic energy, and potential energy above its lowest, (N,) in J, at the states (N, n)."""
    kinetic = np.array([robot.kinetic_energy(x, v) for x, v in zip(q, qd, strict=True)])
    potential = np.array([robot.potential_energy(x) for x in q])
    return kinetic, potential - potential.min()


def at_rest(robot, height, q, qd):
    """Whether states (N, n) are those of a robot at rest, beside the height (J) that it fell from."""
    kinetic, potential = energies(robot, q, qd)
    return kinetic.max() < REST[0] * height and np.ptp(potential) < REST[1] * height


def findings(robot, record, kinetic, potential):
    """What the record shows, line by line; ValueError at what it fails to show, whenever the robot was caught."""
    before, fall = record.during(record.t[0], record.released), record.during(record.released, record.held)
    rest, again = record.during(record.rested - LOOK_BACK, record.rested), record.during(record.dropped, record.t[-1])
    swing, height, floats = kinetic[fall].max(), potential[before][-1], potential[rest][-1]
    effort, gravity = record.effort[rest][-1], robot.gravity_torque(record.q[rest][-1])
    fell = height - potential[fall].min()       # not its kinetic energy: much damping leaves little of it
    checks = (
        (not record.qd[before].any(), "brakes held it until the first command"),
        (fell > 0.1 * height,
         f"let go, it fell from {height:.3g} J above its lowest point, with up to {swing:.3g} J of kinetic energy"),
        (kinetic[rest].max() < 0.01 * max(swing, 0.1 * height) and np.ptp(potential[rest]) < 0.03 * height,
         f"held by the gravity torque it came to rest: {kinetic[rest][-1]:.2g} J of kinetic energy are left"),
        (np.abs(effort - gravity).max() < 0.02 * np.abs(gravity).max(),
         f"it floats {floats:.3g} J above its lowest point, on efforts that are the gravity torque there, up to "
         f"{np.abs(gravity).max():.3g} N m or N"),
        (kinetic[again].max() > 2.0 * kinetic[rest][-1] and potential[again].min() < floats,
         f"without commands it fell again, with up to {kinetic[again].max():.3g} J of kinetic energy"),
    )
    for seen, line in checks:
        if not seen:
            raise ValueError(f"not seen: {line}")
        yield line
