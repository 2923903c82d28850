"""How fast the simulator steps in each command mode: python -m benchmarks.simulator, from the root of the repository.

Ratios to real time at steps of 1 ms, of one robot on one core, beside MuJoCo's position actuators on the same robot;
these are PD controllers, ours prescribe accelerations. The times of a robot are taken in turns."""
import argparse
import statistics
import time

import numpy as np

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation

from . import machine, robots

ROBOTS = "UR5", "Panda", "Talos"
STEPS, DT = 2000, 1e-3      # of a turn; s
REACH = 0.1                 # rad, how far commands are away


def ours(robot):
    """{mode: (a function that starts anew, one that makes STEPS steps)} of the simulator."""
    n, phases = robot.n, np.arange(robot.n)

    def simulation(command, pushed=False, **settings):
        simulated = Simulation(robot, Settings(**{"command_timeout": 0.0, "dt": DT, **settings}))
        home = simulated.q.copy()

        def start():
            simulated.reset()
            simulated.command(command(home))
            if pushed:
                simulated.push(robot.link_names[-1], (0, 0, 0, 0, 0, -1.0))
            simulated.advance(2)        # brakes are released, commands of one step are stale

        def run():
            assert simulated.advance(STEPS) == STEPS, simulated.fault
        return start, run
    near = REACH * np.cos(phases)
    return {
        "effort": simulation(robot.gravity_torque),
        "velocity": simulation(lambda q: near, command_mode="velocity"),
        "position": simulation(lambda q: q + near, command_mode="position"),
        "gravity compensation": simulation(
            lambda q: np.zeros(n), on_timeout="gravity_compensation", command_timeout=DT),
        "effort with a push": simulation(robot.gravity_torque, pushed=True),
    }


def mujocos(case, robot):
    """The same of MuJoCo with a position actuator for each joint; nothing where MuJoCo is not installed."""
    try:
        import mujoco
    except ImportError:
        return {}
    from .peers.mujoco import OFF
    spec = mujoco.MjSpec.from_string(case.urdf.replace(
        "</robot>", '<mujoco><compiler fusestatic="true" discardvisual="true" strippath="true"/></mujoco></robot>'))
    for joint in spec.joints:
        actuator = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    model = spec.compile()
    for flag in OFF:
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    model.opt.timestep, model.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data, omega = mujoco.MjData(model), Settings().servo_bandwidth
    inertia = robot.mass_matrix(np.zeros(robot.n)).diagonal()
    stiffness = omega**2 * inertia
    model.actuator_gainprm[:, 0], model.actuator_biasprm[:, 1] = stiffness, -stiffness
    model.actuator_biasprm[:, 2] = -2.0 * omega * inertia

    def start():
        mujoco.mj_resetData(model, data)
        data.ctrl[:] = REACH * np.cos(np.arange(model.nu))

    def run():
        mujoco.mj_step(model, data, STEPS)
        assert np.isfinite(data.qpos).all() and not data.warning.number.any()
    return {f"position, MuJoCo {mujoco.__version__}": (start, run)}


def measure(turns, repeats):
    """{name: seconds of CPU a step}, the medians of so many turns, taken in turns."""
    taken = {name: [] for name in turns}
    for _ in range(repeats + 1):        # the first warms up
        for name, (start, run) in turns.items():
            start()
            started = time.thread_time()
            run()
            taken[name].append((time.thread_time() - started) / STEPS)
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulator", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    repeats = 3 if parser.parse_args().quick else 41
    facts = machine.describe()
    print(f"==> Stepping rate of the simulator, dt = 1 ms, load {facts['load']}", flush=True)
    for name in ROBOTS:
        case = robots.real(name)
        robot = sd.Robot.from_urdf(case.urdf)
        print(f"{name}, {robot.n} joints")
        for mode, seconds in measure({**ours(robot), **mujocos(case, robot)}, repeats).items():
            print(f"  {mode:26}{seconds * 1e6:8.2f} us a step {DT / seconds:9.0f} x real time", flush=True)


if __name__ == "__main__":
    main()
