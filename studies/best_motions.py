"""Best motions of the kinds of [PK] 8: least jerk and energy, swing-up, lifting what cannot be held, throwing.

python -m studies.best_motions from the root of the repository, or make figures: solves them, draws the pictures of
docs/optimal_motion.md, and prints iterations, time and cost of the same problems by our interior point method, and by
SciPy's SLSQP with exact gradients and with differences."""
import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import screw_dynamics as sd
from benchmarks.pictures import BLUE, GRAY, GREEN, ORANGE, SETTINGS
from screw_dynamics.planning.optimal import (
    Acceleration,
    Cost,
    Duration,
    Effort,
    Jerk,
    JointPosition,
    Limit,
    LinkPosition,
    LinkVelocity,
    Power,
    Quantity,
    Velocity,
)
from screw_dynamics.planning.optimal.collocation.interior import Found
from screw_dynamics.planning.optimal.quantities import Value

PICTURES, BUILD = Path("docs") / "images", Path("build") / "studies"
PENDULUM = Path(__file__).resolve().parents[1] / "urdf" / "double_pendulum.urdf"
G, FAR = 9.81, 50.0             # m/s^2; m, farther than anything is thrown
AXIS = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
GRID = dict(color="#e4e4e4", linewidth=0.6)
MOTOR, LONGEST = 6.0, 0.8       # rad/s, of the motor that throws, and s


class Problem(NamedTuple):
    """What collocate_motion is given."""

    robot: sd.Robot
    terms: list
    arguments: dict

    def best(self, **more: Any) -> Any:
        """The best motion."""
        return sd.collocate_motion(self.robot, self.terms, **(self.arguments | more))


# ------------------------------------------------------------------------------------------------- robots
def arm(load: float = 0.0, efforts: tuple = (np.inf,) * 3) -> sd.Robot:
    """Three links of 0.4, 0.35 and 0.25 m in a vertical plane, which hang down at 0, with a load (kg) in the hand."""
    builder, z = sd.ModelBuilder("base"), 0.0
    for k, (length, mass, effort) in enumerate(zip((0.4, 0.35, 0.25), (3.0, 2.0, 1.0), efforts, strict=True)):
        C = np.eye(4)
        C[2, 3] = z
        whole = mass + load * (k == 2)
        com = (mass * 0.5 * length + load * (k == 2) * length) / whole
        about = mass * length**2 / 12.0 + mass * (com - 0.5 * length)**2 + load * (k == 2) * (com - length)**2
        inertia = sd.inertia_matrix(whole, (0.0, 0.0, -com), np.diag([about, about, 1e-3 * whole]))
        builder.add_joint(f"joint {k}", f"link {k}", f"link {k - 1}" if k else "base", AXIS, C, inertia,
                          limits=sd.Limits(effort=effort))
        z = -length
    C[2, 3] = z
    builder.add_fixed("hand", "link 2", C)
    return sd.Robot(builder.build())


def thrower(spring: bool) -> sd.Robot:
    """An arm of 0.6 m with a ball in its hand, 1 m above the ground; with a spring it is turned by a motor through one
    whose stiffness a lever sets."""
    builder, C = sd.ModelBuilder("ground"), np.eye(4)
    C[2, 3] = 1.0
    builder.add_joint("arm", "forearm", "ground", AXIS, C, sd.inertia_matrix(0.5, (0.0, 0.0, -0.4), np.diag(
        [0.02, 0.02, 1e-3])), limits=sd.Limits(effort=30.0) if spring else sd.Limits(-2.5, 2.5, MOTOR, 30.0))
    if spring:
        rotor = sd.inertia_matrix(0.1, np.zeros(3), 0.02 * np.eye(3))
        builder.add_joint("motor", "rotor", "ground", AXIS, C, rotor, limits=sd.Limits(-2.5, 2.5, MOTOR, 30.0))
        builder.add_joint("lever", "slider", "ground", (0.0, 0.0, 0.0, 0.0, 1.0, 0.0), C, rotor,
                          limits=sd.Limits(0.0, 0.2, 1.0, 100.0))
    C = np.eye(4)
    C[2, 3] = -0.6
    builder.add_fixed("hand", "forearm", C)
    return sd.Robot(builder.build())


class Short(Quantity):
    """By how much what the hand throws falls short of FAR, m, when it reaches the ground at z = 0 without drag."""

    def labels(self, robot, driven):
        """One."""
        return ("short of",)

    def at(self, robot, nodes, derivatives):
        """x + v_x t, t = (v_z + sqrt(v_z^2 + 2 g z)) / g."""
        place, way = LinkPosition("hand").at(robot, nodes, True), LinkVelocity("hand").at(robot, nodes, True)
        x, z, v, w = place.r[..., :1], place.r[..., 2:], way.r[..., 3:4], way.r[..., 5:]
        root = np.sqrt(w * w + 2.0 * G * np.maximum(z, 1e-3))
        t = (w + root) / G
        by_z, by_w = v / root, v * (1.0 + w / root) / G
        J, V, W = place.by["q"], way.by["q"], way.by["qd"]

        def along(of_place, of_way):
            return -(of_place + t[..., None] * of_way[..., 3:4, :] + by_w[..., None] * of_way[..., 5:, :])
        return Value(FAR - x - v * t, {"q": along(J[..., :1, :] + by_z[..., None] * J[..., 2:, :], V),
                                       "qd": along(0.0, W)})


# ------------------------------------------------------------------------------------------------- problems
REACH = dict(q0=[0.3, 0.6, 0.3], q1=[1.9, 0.9, -0.4], duration=1.0, intervals=16)
REST = [Limit(Acceleration(), 0.0, 0.0, [0]), Limit(Acceleration(), 0.0, 0.0, "final")]
REACHES = {"least jerk": [Cost(Jerk()), *REST], "least effort": [Cost(Effort(), 1e-2), *REST],
           "least power": [Cost(Power(), 1e-2), Cost(Effort(), 1e-4), *REST]}
LIFTED, WEAK = 5.0, (50.0, 30.0, 15.0)                      # kg, N m


def lift() -> Problem:
    """A load overhead, which the motors cannot hold with the arm stretched out."""
    return Problem(arm(LIFTED, WEAK), [Cost(Effort(), 3e-3), Cost(Duration(), 0.5)],
                   dict(q0=0.0, q1=[np.pi, 0.0, 0.0], duration=(0.5, 4.0), intervals=24))


def swing_up() -> Problem:
    """A double pendulum, upright, by motors that hold half of it level."""
    return Problem(sd.Robot.from_urdf(PENDULUM), [Cost(Effort(), 5e-3), Cost(Duration(), 0.5)],
                   dict(q0=0.0, q1=[np.pi, 0.0], duration=(1.0, 6.0), intervals=24,
                        effort_limits=([-20.0, -5.0], [20.0, 5.0])))


def throw(how: str) -> Problem:
    """As far as it goes: "rigid", by a "fixed" spring of the best stiffness, or by a "variable" one."""
    terms = [Cost(Short(), 1.0, "final"), Cost(Effort(), 1e-4), Cost(Acceleration(), 1e-6)]
    if how == "rigid":
        return Problem(thrower(False), terms, dict(q0=0.0, qd1=np.nan, duration=(0.2, LONGEST), intervals=32))
    spring = sd.forces.VariableSpring("arm", "motor", "lever", (2.0, 400.0, 0.0))
    still = [Limit(Velocity(), [-np.inf, -np.inf, 0.0], [np.inf, np.inf, 0.0])] * (how == "fixed")
    return Problem(thrower(True), terms + still + [Limit(JointPosition(["arm"]), -2.5, 2.5)], dict(
        q0=[0.0, 0.0, np.nan], qd1=np.nan, duration=(0.2, LONGEST), intervals=32, driven=["motor", "lever"],
        forces=[spring]))


# ------------------------------------------------------------------------------------------------- gradients
def slsqp(exact: bool):
    """A solver of programs: SciPy's SLSQP, with exact gradients or with differences."""
    def solve(program, x, tolerance, limit_tolerance, iterations, tell):
        history, equal = [program.cost(x)], program.lower == program.upper
        low, high = ~equal & np.isfinite(program.lower), ~equal & np.isfinite(program.upper)

        def room(x):
            r = program.constraints(x)
            return np.concatenate((r[low] - program.lower[low], program.upper[high] - r[high]))

        def room_by(x):
            J = program.jacobian(x).toarray()
            return np.concatenate((J[low], -J[high]))
        constraints = [
            {"type": "eq", "fun": lambda x: (program.constraints(x) - program.lower)[equal],
             "jac": (lambda x: program.jacobian(x)[equal].toarray()) if exact else None},
            {"type": "ineq", "fun": room, "jac": room_by if exact else None}]
        found = minimize(program.cost, x, jac=program.gradient if exact else "2-point", constraints=constraints,
                         method="SLSQP", callback=lambda x: history.append(program.cost(x)),
                         options={"maxiter": iterations, "ftol": 1e-9})
        return Found(found.x, np.zeros(len(equal)), "converged" if found.success else found.message, found.nit, history)
    return solve


WAYS = {"exact first and second derivatives": "interior_point", "SLSQP, exact gradients": slsqp(True),
        "SLSQP, differences": slsqp(False)}


def compared(quick: bool) -> list[tuple]:
    """(problem, way, iterations, seconds of the processor, cost, violation, why it stopped) of the same problems, on
    coarser splines, from the same motion on."""
    found = []
    problems = {"least effort": Problem(arm(), REACHES["least effort"], REACH | dict(intervals=6)),
                "swing-up": swing_up()._replace(arguments=swing_up().arguments | dict(intervals=8)),
                "lift": lift()._replace(arguments=lift().arguments | dict(intervals=8))}
    for name, problem in list(problems.items())[:1 if quick else None]:
        begin = problem.best(iterations=1)                  # compiles
        for way, solver in WAYS.items():
            started = time.process_time()
            best = problem.best(solver=solver, iterations=200)
            seconds = time.process_time() - started
            found.append((name, way, best.iterations, seconds, best.cost, best.violation, best.stopped))
            print(f"{name:14} {way:36} {best.iterations:4} iterations, {seconds:7.2f} s, cost {best.cost:.6g}, "
                  f"beyond limits {best.violation:.0e}: {best.stopped}", flush=True)
        assert begin.cost > 0.0
    return found


# ------------------------------------------------------------------------------------------------- pictures
def _axes(figure, *titles):
    axes = figure.subplots(1, len(titles))
    for axis, title in zip(np.ravel(axes), titles, strict=True):
        axis.set_title(title, fontsize=9, loc="left")
        axis.grid(True, **GRID)
    return np.ravel(axes)


def _stick(robot, q, links):
    """Points (k, 2) of links in the plane x, z."""
    return np.array([robot.forward_kinematics(q, link)[[0, 2], 3] for link in links])


def _saved(figure, path):
    figure.get_layout_engine().set(rect=(0.0, 0.05, 1.0, 0.95))
    figure.text(0.01, 0.01, "screw_dynamics, python -m studies.best_motions", fontsize=7, color=GRAY)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _sticks(axis, robot, found, links, count=9):
    for share in np.linspace(0.0, 1.0, count):
        x = _stick(robot, found.evaluate(share * found.duration).q, links)
        axis.plot(*x.T, "o-", color=plt.cm.viridis(0.9 * share), linewidth=1.5, markersize=3)
    fine = found.evaluate(np.linspace(0.0, found.duration, 200)).q
    axis.plot(*np.array([_stick(robot, q, links[-1:])[0] for q in fine]).T, color=GRAY, linewidth=0.8)
    axis.set_aspect("equal")
    axis.set(xlabel="x, m", ylabel="z, m")
    axis.locator_params(axis="x", nbins=3)


def draw_reaches(folder):
    """The same reach with the least jerk, effort and power."""
    robot, figure = arm(), plt.figure(figsize=(9.5, 3.2), layout="constrained")
    axes = _axes(figure, "path of the hand", "velocity of joint 0, rad/s", "effort of joint 0, N m", "power, W")
    for (name, terms), color in zip(REACHES.items(), (BLUE, ORANGE, GREEN), strict=True):
        found = Problem(robot, terms, REACH).best()
        print(f"{name}: {found.report()}")
        t = np.linspace(0.0, found.duration, 300)
        at = found.evaluate(t)
        axes[0].plot(*np.array([_stick(robot, q, ["hand"])[0] for q in at.q]).T, color=color, label=name)
        for axis, x in zip(axes[1:], (at.qd[:, 0], at.tau[:, 0], (at.tau * at.qd).sum(axis=1)), strict=True):
            axis.plot(t, x, color=color)
    axes[0].legend(fontsize=7, frameon=False)
    axes[0].set_aspect("equal")
    axes[0].set(xlabel="x, m", ylabel="z, m")
    for axis in axes[1:]:
        axis.set_xlabel("t, s")
    _saved(figure, folder / "best_reaches.png")


def draw_lift_and_swing(folder):
    """Configurations, and efforts with their limits."""
    figure = plt.figure(figsize=(9.5, 3.4), layout="constrained")
    axes = _axes(figure, "lifting 5 kg", "efforts / limits", "swing-up", "efforts / limits")
    for problem, bounds, links, (left, right) in (
            (lift(), np.array(WEAK), ["link 0", "link 1", "link 2", "hand"], axes[:2]),
            (swing_up(), np.array([20.0, 5.0]), None, axes[2:])):
        found = problem.best()
        print(found.report())
        links = links or [name for name in problem.robot.link_names if name != "base_link"]
        _sticks(left, problem.robot, found, links)
        t = np.linspace(0.0, found.duration, 400)
        at = found.evaluate(t)
        right.plot(t, at.tau / bounds, label=[name.replace("_", " ") for name in problem.robot.joint_names])
        straight = np.linspace(0.0, 1.0, 200)[:, None] * found.q[-1]
        most = np.abs(problem.robot.gravity_torque(straight)[:, 0]).max() / bounds[0]
        right.axhline(most, color=GRAY, linestyle="--", linewidth=0.8, label="straight path, joint 0 at rest")
        right.legend(fontsize=7, frameon=False, loc="upper left")
        right.set_ylim(-1.1, 1.95 * most)
        print(f"  held on the straight way joint 0 takes {most:.2f} of its limit")
        right.set_xlabel("t, s")
    _saved(figure, folder / "best_lift_and_swing_up.png")


def draw_throws(folder):
    """Flights, and how the spring is wound and made stiff."""
    figure = plt.figure(figsize=(9.5, 3.2), layout="constrained")
    axes = _axes(figure, "flight of the ball", "arm and motor (dashed), rad/s", "stiffness, N m/rad")
    for how, color in zip(("rigid", "fixed", "variable"), (BLUE, ORANGE, GREEN), strict=True):
        problem = throw(how)
        found = problem.best()
        t, end = np.linspace(0.0, found.duration, 300), found.evaluate(found.duration)
        at, robot = found.evaluate(t), problem.robot
        p = robot.forward_kinematics(end.q, "hand")[:3, 3]
        v = (robot.jacobian(end.q, "hand", "hybrid") @ end.qd)[3:]
        flight = np.linspace(0.0, (v[2] + np.sqrt(v[2]**2 + 2.0 * G * p[2])) / G, 100)
        reach = p[0] + v[0] * flight[-1]
        print(f"throw, {how}: {reach:.3f} m at {np.linalg.norm(v):.3f} m/s\n{found.report()}")
        axes[0].plot(*np.array([_stick(robot, q, ["hand"])[0] for q in at.q]).T, color=color, linewidth=0.8)
        axes[0].plot(p[0] + v[0] * flight, p[2] + v[2] * flight - 0.5 * G * flight**2, color=color,
                     label=f"{how}: {reach:.2f} m")
        axes[1].plot(t, at.qd[:, 0], color=color)
        if how != "rigid":
            axes[1].plot(t, at.qd[:, 1], "--", color=color)
            axes[2].plot(t, 2.0 + 400.0 * at.q[:, 2], color=color)
    axes[0].legend(fontsize=7, frameon=False)
    for axis, label in zip(axes, ("x, m", "t, s", "t, s"), strict=True):
        axis.set_xlabel(label)
    axes[0].set_ylabel("z, m")
    _saved(figure, folder / "best_throws.png")


def main():
    """Solve, compare, draw and print."""
    parser = argparse.ArgumentParser(prog="python -m studies.best_motions", description=__doc__.partition(":")[0])
    parser.add_argument("--quick", action="store_true", help=f"see that it works; draws into {BUILD}")
    quick = parser.parse_args().quick
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = BUILD if quick else PICTURES
    with plt.rc_context(SETTINGS):
        draw_reaches(folder)
        if not quick:
            draw_lift_and_swing(folder)
            draw_throws(folder)
    compared(quick)


if __name__ == "__main__":
    main()
