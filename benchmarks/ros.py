"""Measure the nodes: python -m benchmarks.ros, from the root of the repository, in an environment with ROS 2.

joint_states to torque through dynamics_node, against a plain rclpy node that passes joint_states on, in turns in one
run; and the closed loop of four processes."""
import argparse
import json
import os
import time

import numpy as np

from . import machine
from .contestants import FOLDER
from .report import significant

RATES = (100, 1000, 3000)                       # Hz
LOOP_RATE = 1000
ROBOT = "Panda"
ECHO, OURS = "rclpy echo", "dynamics_node"
MOST_RATIO, MOST_CPU = 0.8, 150.0               # targets: of the echo's p50 and p99; microseconds a message
ROUNDS, SECONDS, LOOP_SECONDS = 4, 4.0, 30.0
QUICK_ROUNDS, QUICK_SECONDS, QUICK_LOOP_SECONDS = 2, 0.5, 3.0


def main():
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ros", description="Measure the nodes.")
    parser.add_argument("--quick", action="store_true", help="short: to see that it works, not how fast")
    parser.add_argument("--rates", type=int, nargs="+", default=RATES, metavar="HZ", help="only these rates")
    options = parser.parse_args()
    # Nodes of a benchmark discover only each other. Set before rclpy is loaded, and inherited by the processes.
    os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 50)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    facts = machine.describe()
    print(", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    rows, loop = measure(options)
    results = {"machine": facts, "rates": rows, "closed loop": loop}
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "ros.json").write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{latency_table(rows)}\n\n{loop_table(loop)}\n\nResults are in {FOLDER / 'ros.json'}.")


def measure(options):
    """The rows of the table of latencies, and the closed loop."""
    from . import robots
    from .ros_driver import make_node
    from .ros_loop import closed_loop

    case, node = robots.real(ROBOT), make_node()
    rounds, seconds, loop_seconds = (
        (QUICK_ROUNDS, QUICK_SECONDS, QUICK_LOOP_SECONDS) if options.quick else (ROUNDS, SECONDS, LOOP_SECONDS))
    rows = latencies(node, case, options.rates, rounds, seconds)
    print(f"==> The closed loop at {LOOP_RATE} Hz, {loop_seconds:.0f} s", flush=True)
    return rows, closed_loop(node, case.urdf, LOOP_RATE, loop_seconds)


def latencies(ros_node, case, rates, rounds, seconds):
    """For each rate a row {contestant: {figure: value}}, and the ratios."""
    from . import robots
    from .ros_driver import Driver
    from .ros_processes import node, plain

    names, rows = robots.order_of_joints(case.urdf), []
    with (plain("/echo/joint_states", "/echo/effort", "echo") as echo,
          node("dynamics", "ours", robot_description=case.urdf) as ours):
        contestants = {
            ECHO: (echo, Driver(ros_node, names, "/echo/joint_states", "/echo/effort")),
            OURS: (ours, Driver(ros_node, names, "/ours/joint_states", "/ours/screw_dynamics/inverse_dynamics"))}
        for process, driver in contestants.values():
            driver.wait_for_the_first(process)
        time.sleep(1.0)
        for rate in rates:
            print(f"==> {rate} Hz, {rounds} times {seconds:g} s each", flush=True)
            windows = {name: [] for name in contestants}
            for _ in range(rounds):
                for name, (process, driver) in contestants.items():
                    windows[name].append(driver.window(rate, seconds, process))
            rows.append(row(rate, windows))
    return rows


def row(rate, windows):
    """The figures of each contestant at a rate, in microseconds, and the ratios of ours to the echo's."""
    figures = {name: figures_of(found) for name, found in windows.items()}
    ratios = {key: figures[OURS][key] / figures[ECHO][key] for key in ("p50", "p99")}
    return {"rate": rate, **figures, "ratio": ratios}


def figures_of(windows):
    """Percentiles of all windows together, processor time a message, and messages without an answer."""
    found = np.concatenate([window.latencies for window in windows]) * 1e6
    lost = sum(window.lost for window in windows)
    cpu = sum(window.cpu for window in windows) * 1e6 / (len(found) + lost)
    p50, p99, greatest = np.percentile(found, (50, 99, 100)) if len(found) else (np.nan,) * 3
    return {"p50": p50, "p99": p99, "max": greatest, "CPU": cpu, "messages": len(found) + lost, "lost": lost}


# ------------------------------------------------------------------------------------------------- the report
def latency_table(rows):
    """From a state to its answer, each contestant a line."""
    lines = [f"From joint_states to the answer, {ROBOT}, microseconds",
             f"{'':>8}  {'':<14}{'p50':>9}{'p99':>9}{'max':>9}{'CPU':>9}{'messages':>10}{'lost':>8}"]
    for found in rows:
        for name in (ECHO, OURS):
            f = found[name]
            cells = "".join(f"{significant(f[key]):>9}" for key in ("p50", "p99", "max", "CPU"))
            lines.append(f"{found['rate']:>5} Hz  {name:<14}{cells}{f['messages']:>10}{f['lost']:>8}")
        ratios = "".join(f"{mark(found['ratio'][key], MOST_RATIO, 'x'):>9}" for key in ("p50", "p99"))
        cpu = mark(found[OURS]["CPU"], MOST_CPU)
        lines.append(f"{'':>8}  {'ratio':<14}{ratios}{'':>9}{cpu:>9}{'':>10}{mark(found[OURS]['lost'], 0):>8}")
    lines.append(f"Targets: at most {MOST_RATIO:g}x the echo's p50 and p99, {MOST_CPU:g} us of CPU a message, no loss; "
                 "what misses its target is marked !")
    return "\n".join(lines)


def mark(value, most, unit=""):
    """A number, with a mark where it misses its target."""
    text = f"{value:.2f}{unit}" if unit else f"{value:.0f}"
    return text + (" !" if not value <= most else "")


def loop_table(loop):
    """The closed loop, each process a line."""
    lines = [f"Closed loop at {LOOP_RATE} Hz: real-time factor {loop['real-time factor']:.4f}, "
             f"{loop['behind real time [s]']:.2f} s behind real time; "
             f"{loop['heard by the relay [Hz]']:.0f} torques and {loop['heard by the listener [Hz]']:.0f} states heard "
             "in a second",
             f"{'':<16}{'lost':>8}{'of a core':>12}"]
    for name, lost in loop["lost"].items():
        lines.append(f"{name:<16}{mark(lost, 0):>8}{loop['share of a core'][name]:>11.0%}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
