"""The seven examples of [MT], section 5, as systems, and what its figures show of each.

Where the paper gives a size in a picture alone, which the text that we have lacks, it is chosen here, and says so. So
are the durations from 5.4 on. Joints that hold a point are resolved in the inertial frame, as (32) to (37) are;
examples `beside` others are the same in the other resolution."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import pi, sqrt
from typing import Any

import numpy as np

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import (
    DIRECT,
    SEMIDIRECT,
    Body,
    Joint,
    Motion,
    MultibodySystem,
    Spring,
    simulate,
)
from screw_dynamics.papers.absolute_coordinates.joints import INERTIAL, OTHER_BODY

FORMULATIONS = SEMIDIRECT, DIRECT
ALUMINIUM = 2700.0      # kg/m^3: the paper's masses and sizes have it
REST, STILL = np.zeros(3), (0.0, 0.0, 0.0)
Measure = Callable[[MultibodySystem, float, np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Quantity:
    """A figure of the paper: number, caption, unit, and its value from a system, a time, poses and velocities.

    exact: the formulation for which [MT] states that it is 0 with any step: None, one of FORMULATIONS or
    both; for others the error is of order 4. scale: the way that bodies go, in m or rad, or 1: errors of 1e-11 of it
    may be of rounding."""

    figure: str
    caption: str
    unit: str
    measure: Measure
    exact: tuple[str, ...] = ()
    scale: float = 1.0


@dataclass(frozen=True)
class Example:
    """A section of the paper: the system in SE(3), the seconds, and what is shown; beside: the example in whose picture
    it is drawn, with dashes, and which it equals but for the frame in which joints are resolved."""

    section: str
    name: str
    title: str
    system: MultibodySystem
    duration: float
    quantities: tuple[Quantity, ...]
    beside: str = ""


def resolved_in_the_other_body(example: Example) -> Example:
    """The same with joints resolved in the frame that turns with the other body."""
    return replace(example, name=f"{example.name}_other_body", title=f"{example.title}, resolved in the other body",
                   system=example.system.resolved_in(OTHER_BODY), beside=example.name)


def both(system: MultibodySystem) -> MultibodySystem:
    """Two copies of a system side by side, in SE(3) and in SO(3) x R^3: one integration moves both formulations."""
    bodies, joints, springs = [], [], []
    for group in FORMULATIONS:
        def copied(name, group=group):
            return None if name is None else f"{name}, {group}"
        bodies += [replace(body, name=copied(body.name), group=group) for body in system.bodies]
        joints += [replace(joint, name=copied(joint.name), body=copied(joint.body), on=copied(joint.on))
                   for joint in system.joints]
        springs += [replace(spring, body=copied(spring.body), on=copied(spring.on)) for spring in system.springs]
    return MultibodySystem(bodies, joints, springs, system.gravity, None, system.baumgarte)


def integrate(example: Example, dt: float, duration: float | None = None, samples: int = 250,
              method: str = "rk4") -> tuple[np.ndarray, Mapping[tuple[str, str], np.ndarray]]:
    """Times (k,), and {(figure, formulation): values (k,)} at them, of the motion with steps dt."""
    system, seconds = both(example.system), duration or example.duration
    motion = simulate(system, seconds, dt, method, state=system.initial(), every=max(1, round(seconds / dt / samples)))
    return motion.t, values(example, motion)


def values(example: Example, motion: Motion) -> Mapping[tuple[str, str], np.ndarray]:
    """{(figure, formulation): values (k,)} of a motion of both formulations."""
    found, n = {}, example.system.n
    for k, group in enumerate(FORMULATIONS):
        system, part = example.system.with_groups(group), slice(k * n, (k + 1) * n)
        for quantity in example.quantities:
            found[quantity.figure, group] = np.array([
                quantity.measure(system, t, g[part], V[part])
                for t, g, V in zip(motion.t, motion.poses, motion.velocities, strict=True)])
    return found


# ------------------------------------------------------------------------------------------------- what is measured
def _energy_drift(kinetic: bool = False) -> Measure:
    def measure(system, t, poses, velocities):
        energy = system.kinetic_energy if kinetic else system.energy
        return abs(energy(poses, velocities) - energy(*system.initial()))
    return measure


def _error_of(joint: str, orientation: bool = False) -> Measure:
    return lambda system, t, poses, velocities: system.joint_errors(poses)[joint][orientation]


def _com_error(com: Any, velocity: Any, body: int = 0) -> Measure:
    """Of a body whose center of mass moves at a constant velocity."""
    def measure(system, t, poses, velocities):
        C, start = poses[body], np.array(system.bodies[body].pose)
        there = start[:3, :3] @ com + start[:3, 3] + t * np.array(velocity)
        return float(np.linalg.norm(C[:3, :3] @ com + C[:3, 3] - there))
    return measure


def _angle_error(omega: Any, body: int = 0) -> Measure:
    """Of a body that turns at a constant angular velocity: |log(R(t)^T R)|."""
    def measure(system, t, poses, velocities):
        exact = sd.so3.exp(t * np.array(omega))
        return float(np.linalg.norm(sd.so3.log(exact.T @ poses[body, :3, :3])))
    return measure


# ------------------------------------------------------------------------------------------------- bodies
def box(x: float, y: float, z: float, at: Any = STILL) -> np.ndarray:
    """The inertia (6, 6) of an aluminium box, about a frame in which its center is at a point."""
    mass = ALUMINIUM * x * y * z
    return sd.inertia_matrix(mass, at, mass / 12.0 * np.diag((y * y + z * z, x * x + z * z, x * x + y * y)))


def at(x: float, y: float = 0.0, z: float = 0.0, R: Any = None) -> np.ndarray:
    """The pose of a frame at a point."""
    C = np.eye(4)
    C[:3, 3] = x, y, z
    if R is not None:
        C[:3, :3] = R
    return C


def about(point: Any, omega: Any) -> np.ndarray:
    """The twist of a body that turns about a point of its own, which is at rest."""
    return np.concatenate((omega, np.cross(point, omega)))


# ------------------------------------------------------------------------------------------------- 5.1 and 5.2
SPIN, GLIDE = (10.0 * pi, 2.0 * pi, 0.0), (10.0, 0.0, 0.0)
R0 = np.array((0.4, 0.0, 0.0))      # of the center of mass, in the reference frame of 5.2


def free_body() -> list[Example]:
    """5.1: a free box, its frame at the center of mass; and 5.2: off it."""
    centered, off = box(0.8, 0.4, 0.1), box(0.8, 0.4, 0.1, R0)

    def example(section, name, title, inertia, twist, *quantities):
        system = MultibodySystem([Body("box", inertia, twist=twist)], gravity=STILL)
        return Example(section, name, title, system, 10.0, quantities)
    turn = 0.0, 0.0, 2.0 * pi
    return [
        example("5.1", "free_body_turning", "free body, frame at the center of mass, turning", centered,
                np.array((*SPIN, *STILL)),
                Quantity("2", "drift of kinetic energy", "J", _energy_drift(kinetic=True)),
                Quantity("5.1, text", "drift of the center of mass", "m", _com_error(REST, STILL), FORMULATIONS)),
        example("5.1", "free_body_gliding", "free body, frame at the center of mass, turning and gliding", centered,
                np.array((*turn, *GLIDE)),
                Quantity("3", "error of the center of mass", "m", _com_error(REST, GLIDE), (DIRECT,), 100.0),
                Quantity("4", "error of the orientation", "rad", _angle_error(turn), FORMULATIONS, 20.0 * pi)),
        example("5.2", "free_body_off_center_turning", "free body, frame off the center of mass, turning", off,
                about(R0, SPIN),
                Quantity("5", "drift of the center of mass", "m", _com_error(R0, STILL), (SEMIDIRECT,))),
        example("5.2", "free_body_off_center_gliding", "free body, frame off the center of mass, turning and gliding",
                off, about(R0, SPIN) + np.array((*STILL, *GLIDE)),
                Quantity("6", "error of the center of mass", "m", _com_error(R0, GLIDE), scale=100.0)),
    ]


# ------------------------------------------------------------------------------------------------- 5.3 and 5.4
def heavy_top() -> Example:
    """5.3: a box on a massless rod that turns about a fixed point, held by a spring.

    [MT] prints C_0 = (I, r_0), which would be on the other side of the pivot: h = 0 asks for (I, -r_0)."""
    r0 = np.array((-0.5, 0.0, 0.0))
    top = Body("top", box(0.1, 0.2, 0.4), at(*-r0), about(r0, (0.0, 0.0, 0.5)))
    system = MultibodySystem([top], [Joint("pivot", "spherical", "top", at(*r0))],
                             [Spring("top", on=None, point_on=(1.0, 0.0, 0.5), stiffness=1e4)])
    return Example("5.3", "heavy_top", "heavy top with a spring", system, 8.0, (
        Quantity("8", "position of the pivot", "m", _error_of("pivot"), (SEMIDIRECT,)),
        Quantity("9", "drift of energy", "J", _energy_drift())))


def pendulum(links: int = 2) -> Example:
    """5.4: two boxes on spherical joints at their ends, or a three-bar or four-bar pendulum of them.

    The material is not printed: aluminium, as in 5.1 and 5.3, so that a link has 2.7 kg; the duration is not in our
    text: 1 s. Of the longer pendulums no motion is printed: the last link starts as the second here, all others as the
    first."""
    a, end = 0.2, np.array((0.1, 0.0, 0.0))
    inertia, bodies, joints = box(a, 0.1, 0.05), [], []
    for k in range(1, links + 1):
        omega = (10.0, 0.0, 0.0) if k < links else (10.0 * pi, 10.0 * pi, 20.0 * pi)
        bodies.append(Body(f"link {k}", inertia, at((k - 0.5) * a), about(-end, omega)))
        joints.append(Joint(f"joint {k}", "spherical", f"link {k}", at(*-end), on=f"link {k - 1}" if k > 1 else None))
    figures = ("11", "12", "13") if links == 2 else [f"5.4, text, {k}" for k in range(1, links + 2)]
    quantities = [Quantity(figure, f"joint {k}", "m", _error_of(f"joint {k}"), (SEMIDIRECT,) if k == 1 else ())
                  for k, figure in enumerate(figures[:-1], start=1)]
    quantities.append(Quantity(figures[-1], "drift of energy", "J", _energy_drift()))
    number = {2: "double", 3: "three-bar", 4: "four-bar"}[links]
    return Example("5.4", f"{number.replace('-', '_')}_pendulum", f"spherical {number} pendulum",
                   MultibodySystem(bodies, joints).resolved_in(INERTIAL), 1.0, tuple(quantities))


# ------------------------------------------------------------------------------------------------- 5.5
def four_bar() -> Example:
    """5.5: a planar four-bar, its last joint a spherical one, as the caption of figure 16 has it.

    Figure 14 is not in our text: crank and coupler are taken to lie in line, 2 L0/sqrt(27) and twice that long, with
    the rocker upright, L0/sqrt(3), on a base of L0, which gives the printed angular velocities; bars are 5 cm wide, of
    aluminium, and move for 0.5 s: in steps of 10 ms, resolved in the inertial frame, they fly apart within 1 s."""
    L0, omega0 = 0.5, 10.0 * pi
    crank, rocker, width = 2.0 * L0 / sqrt(27.0), L0 / sqrt(3.0), 0.05
    up, across = np.array((sqrt(0.75), 0.5, 0.0)), np.array((0.0, 1.0, 0.0))
    starts = np.zeros(3), crank * up, 3.0 * crank * up
    sides = ((crank, up), (2.0 * crank, up), (rocker, -across))
    spins = omega0, -0.5 * omega0, 0.0
    bodies, joints = [], []
    for k, (start, (length, e), spin) in enumerate(zip(starts, sides, spins, strict=True), start=1):
        half = np.array((0.5 * length, 0.0, 0.0))
        C = at(*(start + 0.5 * length * e), np.column_stack((e, np.cross((0.0, 0.0, 1.0), e), (0.0, 0.0, 1.0))))
        pivot = half if k == 2 else -half                       # where the bar is at rest
        bodies.append(Body(f"bar {k}", box(length, width, width), C, about(pivot, (0.0, 0.0, spin))))
        joints.append(Joint(f"joint {k}", "revolute", f"bar {k}", at(*-half), on=f"bar {k - 1}" if k > 1 else None))
    joints.append(Joint("joint 4", "spherical", "bar 3", at(0.5 * rocker)))
    exact = {1: (SEMIDIRECT,), 2: (), 3: (), 4: (SEMIDIRECT,)}
    quantities = [Quantity(figure, f"joint {k}", "m", _error_of(f"joint {k}"), exact[k])
                  for k, figure in enumerate(("15 a, b", "15 c, d", "16 a, b", "16 c, d"), start=1)]
    quantities.append(Quantity("5.5, text", "orientation, joint 2", "-", _error_of("joint 2", True), FORMULATIONS))
    system = MultibodySystem(bodies, joints, gravity=STILL).resolved_in(INERTIAL)
    return Example("5.5", "four_bar", "planar four-bar", system, 0.5, tuple(quantities))


# ------------------------------------------------------------------------------------------------- 5.6 and 5.7
def revolute_prismatic(first: str = "revolute") -> Example:
    """5.6: a ring that turns about a vertical axis in its wall, and a bar that slides up and down on it, on a spring;
    or the same with a cylindrical joint 1, which lets both fall.

    The printed inertias are those of a ring of the radii 0.15 and 0.08 m, 0.05 m high, and of a bar of 0.2 x 0.04 x
    0.04 m. Where axis and bar are figure 17 says, which our text lacks: at opposite sides of the ring, in the middle
    of its wall; the spring has the length 0. They move for 2 s."""
    wall, omega = 0.115, (0.0, 0.0, 20.0 * pi)
    ring = Body("ring", sd.inertia_matrix(6.82825, STILL, np.diag((0.0507567, 0.0507567, 0.0986682))), at(wall),
                about((-wall, 0.0, 0.0), omega))
    bar = Body("bar", sd.inertia_matrix(0.864, STILL, np.diag((0.0002304, 0.0029952, 0.0029952))), at(2.0 * wall),
               about((-2.0 * wall, 0.0, 0.0), omega) + np.array((0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
    system = MultibodySystem(
        [ring, bar], [Joint("joint 1", first, "ring", at(-wall)), Joint("joint 2", "prismatic", "bar", at(0.0),
                                                                        on="ring")],
        [Spring("bar", on="ring", point_on=(wall, 0.0, 0.0), stiffness=1e4)])
    figures = ("18", "19") if first == "revolute" else ("5.6, text, 1", "5.6, text, 2")
    return Example("5.6", f"{first}_prismatic", f"{first} and prismatic joint", system, 2.0, (
        Quantity(figures[0], "joint 1", "m", _error_of("joint 1"), (SEMIDIRECT,), 15.0),
        Quantity(figures[1], "joint 2", "m", _error_of("joint 2"), (SEMIDIRECT,), 30.0)))


def cardan() -> Example:
    """5.7: an input shaft on a revolute joint, and a drive shaft that hangs on it by a universal joint.

    The printed angular velocities are body-fixed ones of shafts along the second axes of their frames, which stand
    along the third axis of the inertial frame; figure 20, with the sizes, is not in our text: aluminium boxes of 5 x 20
    x 5 cm that meet at the universal joint. They move for 5 s."""
    inertia, half = box(0.05, 0.2, 0.05), np.array((0.0, 0.1, 0.0))
    upright = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))            # y upwards
    shafts = [Body("input", inertia, at(0.0, 0.0, 0.1, upright), (0.0, pi, 0.0, *STILL)),
              Body("drive", inertia, at(0.0, 0.0, -0.1, upright), about(half, (pi, pi, 0.0)))]
    joints = [Joint("joint 1", "revolute", "input", at(0.0, R=upright.T)),              # z along the shaft
              Joint("joint 2", "universal", "drive", at(*half, upright), on="input")]   # x and y along x and z of it
    system = MultibodySystem(shafts, joints).resolved_in(INERTIAL)
    return Example("5.7", "cardan", "Cardan transmission", system, 5.0, (
        Quantity("21", "position of joint 2", "m", _error_of("joint 2"), (SEMIDIRECT,)),
        Quantity("22", "orientation of joint 2", "-", _error_of("joint 2", True)),
        Quantity("5.7, text", "joint 1", "m", _error_of("joint 1"), FORMULATIONS)))


@cache
def examples() -> tuple[Example, ...]:
    """All, in the paper's order, those beside another right after it."""
    double, bars, shafts = pendulum(), four_bar(), cardan()
    return (*free_body(), heavy_top(), double, resolved_in_the_other_body(double), pendulum(3), pendulum(4),
            bars, resolved_in_the_other_body(bars), revolute_prismatic(), revolute_prismatic("cylindrical"),
            shafts, resolved_in_the_other_body(shafts))
