"""Drift of energy and momentum against cost, on robots over a million steps by each integrator: make drift, or
python -m studies.drift from the root of the repository. Writes the table and the picture of docs/integration.md.

Fixed bases fall and swing under gravity, floating ones tumble without it; no friction, no limits, one state. Each
integrator makes its steps twice: of the same length for all, and as long as they may be at the same cost."""
import argparse
import json
import re
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import screw_dynamics as sd
from benchmarks import machine
from benchmarks.pictures import BLUE, GRAY, GREEN, ORANGE, SETTINGS
from benchmarks.robots import real
from screw_dynamics.rollout.integrators import INTEGRATORS

PAGE, IMAGES, BUILD = Path("docs") / "integration.md", Path("docs") / "images", Path("build") / "studies"
BEGIN, END = "<!-- numbers: make drift -->", "<!-- end of drift -->"
STEPS, DT, SAMPLES = 1_000_000, 1e-3, 2000
CHEAPEST, REFERENCE = "semi_implicit_euler", "rk4"      # costs are in units of the one, steps as long as the other's
COLORS = ORANGE, BLUE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"
TOLERANCES = 1e-6, 1e-9     # of an adaptive integrator, relative; of the two runs


def robots():
    """{name: (robot, q, qd)}, each with the state that it starts from."""
    rng, found = np.random.default_rng(0), {}
    found["double pendulum"] = sd.Robot.from_urdf("urdf/double_pendulum.urdf"), np.array([1.0, 0.5]), np.zeros(2)
    for name, floating in (("UR5", False), ("Panda", False), ("ANYmal", True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sd.UrdfWarning)
            robot = sd.Robot.from_urdf(real(name, floating).urdf, gravity=(0.0, 0.0, -9.81 * (not floating)),
                                       floating_base=floating)
        q = robot.integrate(robot.neutral(), rng.uniform(-0.5, 0.5, robot.n))
        found[f"{name}, floating" if floating else name] = robot, q, floating * rng.normal(size=robot.n)
    return found


def is_adaptive(integrator):
    """Whether an integrator chooses its steps itself."""
    return INTEGRATORS[integrator].tableau.error is not None


def costs(steps=5000, repeats=7):
    """{robot: {integrator: microseconds of CPU a step of DT}}, the least of several, taken in turns."""
    found = {}
    for name, (robot, q, qd) in robots().items():
        taken = {integrator: [] for integrator in INTEGRATORS}
        for _ in range(repeats):
            for integrator, seconds in taken.items():
                started = time.thread_time()
                robot.rollout(q, qd, None, DT, steps, integrator, every=steps, rtol=1e-6, atol=1e-9)
                seconds.append(time.thread_time() - started)
        found[name] = {integrator: 1e6 * min(seconds[1:]) / steps for integrator, seconds in taken.items()}
    return found


def run(name, integrator, dt, rtol, steps):
    """The drift of one motion, as JSON takes it."""
    robot, q, qd = robots()[name]
    started = time.thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.DivergenceWarning)
        motion = robot.rollout(q, qd, None, dt, steps, integrator, every=max(1, steps // SAMPLES), rtol=rtol,
                               atol=1e-3 * rtol, record="energy")
    energy = motion.recorded["energy"]
    found = {"robot": name, "integrator": integrator, "dt": dt, "rtol": rtol, "t": motion.t.tolist(),
             "energy": energy.residual.tolist(), "kinetic": np.nanmax(energy.kinetic),
             "seconds": time.thread_time() - started}
    if robot.model.on_groups:
        momentum = robot.centroidal_momentum(motion.q, motion.qd)
        parts = [np.linalg.norm(momentum[:, part] - momentum[0, part], axis=-1) / np.linalg.norm(momentum[0, part])
                 for part in (slice(3), slice(3, 6))]
        found["momentum"] = np.maximum(*parts).tolist()
    return found


def jobs(measured, steps):
    """Robot, integrator, step, tolerance and number of steps of all motions, the longest first."""
    found = []
    for name, of in measured.items():
        for integrator, cost in of.items():
            if is_adaptive(integrator):
                found += [(name, integrator, DT, rtol, steps) for rtol in TOLERANCES]
            else:
                equal = float(f"{DT * cost / of[REFERENCE]:.2g}")
                found += [(name, integrator, dt, TOLERANCES[0], steps) for dt in dict.fromkeys((DT, equal))]
    return sorted(found, key=lambda job: -measured[job[0]][job[1]])


# ------------------------------------------------------------------------------------------------- table
def table(results):
    """A row a motion."""
    facts, measured = results["machine"], results["costs"]
    steps = ", ".join(f"{of[CHEAPEST]:.2g} us for the {name}" for name, of in measured.items())
    lines = [f"{results['steps']:,} steps each, on {facts['processor']}, {facts['date']}, load {facts['load']}. "
             f"`{CHEAPEST}` takes {steps}.", "",
             "| robot | integrator | step | cost of a step | cost of a second | largest energy error | at the end | "
             "largest momentum error |", "|---" * 8 + "|"]
    for name, of in measured.items():
        for motion in [m for m in results["motions"] if m["robot"] == name]:
            ratio = of[motion["integrator"]] / of[CHEAPEST]
            energy = error_of(results, motion)
            lost = not np.isfinite(energy[-1])
            end = f"lost at {motion['t'][int(np.argmin(np.isfinite(energy)))]:.3g} s" if lost else f"{energy[-1]:.1e}"
            momentum = "-" if "momentum" not in motion else f"{np.nanmax(motion['momentum']):.1e}"
            step, each, second = f"{1e3 * motion['dt']:.3g} ms", f"{ratio:.1f}", f"{ratio * DT / motion['dt']:.1f}"
            if is_adaptive(motion["integrator"]):
                step, each = f"rtol {motion['rtol']:.0e}", "-"
                second = f"{motion['seconds'] / reference(results, name):.1f}"
            most = "-" if lost else f"{energy.max():.1e}"
            cells = name, f"`{motion['integrator']}`", step, each, second, most, end, momentum
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def error_of(results, motion):
    """The energy error over time, relative to the largest kinetic energy of most motions of the robot."""
    return np.abs(motion["energy"]) / np.median([m["kinetic"] for m in results["motions"]
                                                 if m["robot"] == motion["robot"]])


def reference(results, name):
    """The seconds that the cheapest integrator takes for as long a motion as the adaptive ones'."""
    return results["steps"] * 1e-6 * results["costs"][name][CHEAPEST]


def with_table(text, results):
    """The page with its table renewed."""
    return renewed(text, BEGIN, END, table(results))


def renewed(text, begin, end, between):
    """A page with what is between two lines renewed."""
    if begin not in text or end not in text:
        raise ValueError(f"the page lacks the lines {begin!r} and {end!r}")
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{between}\n{end}", text, flags=re.DOTALL)


# ------------------------------------------------------------------------------------------------- picture
def draw(results, path):
    """The energy error of each robot over time, with steps of the same cost."""
    names = list(results["costs"])
    colors = dict(zip(INTEGRATORS, COLORS, strict=False))
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(1, len(names), figsize=(3.1 * len(names), 4.0), sharey=True, squeeze=False)
        figure.subplots_adjust(left=0.065, right=0.99, top=0.80, bottom=0.15, wspace=0.08)
        for axis, name in zip(axes[0], names, strict=True):
            for motion in at_equal_cost(results, name):
                t, error = largest_within(np.array(motion["t"][1:]), error_of(results, motion)[1:])
                axis.loglog(t, error, color=colors[motion["integrator"]], label=motion["integrator"], linewidth=1.3)
            axis.set_title(name, fontsize=9)
            axis.set_ylim(1e-13, 1e2)
            axis.set_xlabel("time [s]")
            axis.grid(True, color="#e4e4e4", linewidth=0.6)
        axes[0][0].set_ylabel("energy error / largest kinetic energy")
        figure.suptitle("Energy error at equal cost", x=0.065, ha="left", fontsize=11, fontweight="bold")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="upper right", ncols=len(INTEGRATORS), fontsize=8,
                      frameon=False, bbox_to_anchor=(0.995, 0.93))
        facts = results["machine"]
        figure.text(0.01, 0.01, f"screw_dynamics, make drift: largest error in each fifth of a decade; costs on "
                    f"{facts['processor']}, {facts['date']}", fontsize=7, color=GRAY)
        figure.savefig(path, dpi=90)
        plt.close(figure)


def at_equal_cost(results, name):
    """The last motion of each integrator on a robot."""
    return {m["integrator"]: m for m in results["motions"] if m["robot"] == name}.values()


def largest_within(t, error, bins=5):
    """The largest error in each part of a decade of time, at the time where it is."""
    finite = np.isfinite(error)
    t, error = t[finite], np.maximum(error[finite], 1e-17)
    part = np.floor(bins * np.log10(t)).astype(int)
    places = [np.flatnonzero(part == k)[np.argmax(error[part == k])] for k in np.unique(part)]
    return t[places], error[places]


def main():
    """Measure, integrate, draw and write."""
    parser = argparse.ArgumentParser(prog="python -m studies.drift", description=__doc__.partition(":")[0])
    parser.add_argument("--quick", action="store_true", help=f"see that it works: few steps; writes into {BUILD}")
    parser.add_argument("--keep", action="store_true", help="draw the motions of the last run")
    parser.add_argument("--workers", type=int, default=min(2, cpu_count() or 1), help="processes")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    file, steps = BUILD / ("drift_quick.json" if options.quick else "drift.json"), 4000 if options.quick else STEPS
    if not options.keep:
        measured, motions = costs(500 if options.quick else 5000), []
        found = {"machine": machine.describe(), "steps": steps, "costs": measured}
        given = jobs(measured, steps)
        with ProcessPoolExecutor(options.workers) as pool:
            for motion in pool.map(run, *zip(*given, strict=True)):
                print(f"==> {motion['robot']}, {motion['integrator']}, step {motion['dt']:g} s: "
                      f"{motion['seconds']:.1f} s", flush=True)
                motions.append(motion)
        order = [(job[0], job[1]) for job in sorted(given, key=lambda job: list(INTEGRATORS).index(job[1]))]
        motions.sort(key=lambda m: (order.index((m["robot"], m["integrator"])), m["dt"] != DT, -m["rtol"]))
        file.write_text(json.dumps(found | {"motions": motions}))
    results, images = json.loads(file.read_text()), BUILD if options.quick else IMAGES
    draw(results, images / "drift.png")
    target = BUILD / PAGE.name if options.quick else PAGE
    target.write_text(with_table(PAGE.read_text(), results))
    print(f"==> {target} and {images / 'drift.png'} are written")


if __name__ == "__main__":
    main()
