"""Drift of energy and constraints of a robot with a closed loop, over many steps: make drift, or python -m
studies.drift_loops from the root of the repository. Writes a table of docs/integration.md.

The leg of urdf/closed_loop_leg.urdf, its trunk held, with the loop of its foot: it falls from rest and swings, without
friction. In absolute coordinates by integrators of bodies, and in those of its joints."""
import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from os import cpu_count

import numpy as np

import screw_dynamics as sd
from benchmarks import machine
from screw_dynamics.papers.absolute_coordinates import of_robot, simulate
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint
from studies.drift import BUILD, DT, PAGE, renewed

BEGIN, END = "<!-- numbers: make drift, closed loops -->", "<!-- end of closed loops -->"
STEPS, SAMPLES = 100_000, 1000
# In absolute coordinates method and projection, in those of joints the integrator.
ABSOLUTE = (("energy_momentum", None), ("energy_momentum", "velocities"), ("rk4", None),
            ("rk4", "poses and velocities"))
PROJECTED = {None: "", "velocities": ", velocities projected", "poses and velocities": ", projected"}
RELATIVE = "rk4", "implicit_midpoint"


def leg():
    """The leg without the rod of its ankle, which is a distance, as a robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.UrdfWarning)
        model = sd.Robot.from_urdf("urdf/closed_loop_leg.urdf").model
    loops = tuple(found for found in model.constraints if isinstance(found, LoopJoint))
    return sd.Robot(replace(model, constraints=loops))


def in_absolute_coordinates(method, projection, steps):
    """What came out, as JSON takes it."""
    robot = leg()
    system = of_robot(robot, robot.neutral())
    simulate(system, DT, DT, method, projection=projection)
    started = time.thread_time()
    motion = simulate(system, steps * DT, DT, method, every=max(1, steps // SAMPLES), projection=projection)
    seconds, states = time.thread_time() - started, list(zip(motion.poses, motion.velocities, strict=True))
    return outcome("poses of bodies", f"`{method}`{PROJECTED[projection]}", steps, seconds,
                   [system.energy(*state) for state in states],
                   [np.abs(system.residuals(poses)).max() for poses, _ in states],
                   max(system.kinetic_energy(*state) for state in states))


def in_joint_coordinates(method, _, steps):
    """The same of ClosedLoopRobot.rollout, which projects."""
    robot = leg()
    closed, q = ClosedLoopRobot(robot), robot.neutral()
    closed.rollout(q, np.zeros(robot.n), None, DT, 1, method)           # compiled, or loaded
    started = time.thread_time()
    motion = closed.rollout(q, np.zeros(robot.n), None, DT, steps, method)
    seconds = time.thread_time() - started
    return outcome("joints", f"`{method}`, projected", steps, seconds, motion.energy, motion.residual,
                   robot.kinetic_energy(motion.q, motion.qd).max())


def outcome(coordinates, name, steps, seconds, energy, residuals, kinetic):
    """A row of the table."""
    error = np.abs(np.asarray(energy) - energy[0]) / kinetic
    return {"coordinates": coordinates, "method": name, "steps": steps, "cost": 1e6 * seconds / steps,
            "largest": float(error.max()), "end": float(error[-1]), "residual": float(np.max(residuals))}


def run(job):
    """One motion: of which of the two functions, with what."""
    where, method, projection, steps = job
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.LimitsWarning)
        try:
            return (in_absolute_coordinates if where == "poses" else in_joint_coordinates)(method, projection, steps)
        except (ArithmeticError, np.linalg.LinAlgError):        # the mechanism came apart
            return {"coordinates": "poses of bodies" if where == "poses" else "joints",
                    "method": f"`{method}`{PROJECTED[projection]}", "steps": steps}


def jobs(steps):
    """All motions."""
    return [*(("poses", *how, steps) for how in ABSOLUTE), *(("joints", method, None, steps) for method in RELATIVE)]


def table(results):
    """A row a motion."""
    facts = results["machine"]
    lines = [f"Steps of {1e3 * DT:g} ms, on {facts['processor']}, {facts['date']}, load {facts['load']}; energy errors "
             "relative to the largest kinetic energy.", "",
             "| coordinates | integrator | steps | us a step | largest energy error | at the end | residual [m] |",
             "|---" * 7 + "|"]
    for row in results["motions"]:
        what = f"| {row['coordinates']} | {row['method']} | {row['steps']:,} |"
        lines.append(f"{what} - | lost | lost | lost |" if "cost" not in row else
                     f"{what} {row['cost']:.3g} | {row['largest']:.1e} | {row['end']:.1e} | {row['residual']:.1e} |")
    return "\n".join(lines)


def main():
    """Integrate and write."""
    parser = argparse.ArgumentParser(prog="python -m studies.drift_loops", description=__doc__.partition(":")[0])
    parser.add_argument("--quick", action="store_true", help=f"see that it works: few steps; writes into {BUILD}")
    parser.add_argument("--keep", action="store_true", help="write the table of the last run")
    parser.add_argument("--workers", type=int, default=min(2, cpu_count() or 1), help="processes")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    file = BUILD / ("drift_loops_quick.json" if options.quick else "drift_loops.json")
    steps = 200 if options.quick else STEPS
    if not options.keep:
        found = {"machine": machine.describe(), "steps": steps}
        with ProcessPoolExecutor(options.workers) as pool:
            file.write_text(json.dumps(found | {"motions": list(pool.map(run, jobs(steps)))}))
    target = BUILD / PAGE.name if options.quick else PAGE
    target.write_text(renewed(PAGE.read_text(), BEGIN, END, table(json.loads(file.read_text()))))
    print(f"==> {target} is written")


if __name__ == "__main__":
    main()
