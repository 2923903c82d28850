"""How much faster than real time a robot runs in tests: python -m benchmarks.lockstep, from the root of the repository.

simulator_node and the controller of examples/ci as processes, over DDS. In lockstep time waits for the controller at
each state; without a controller the simulator steps as fast as it can, and publishes the same states."""
import sys
import time
from pathlib import Path

import pytest_screw_dynamics

EXAMPLE = Path("examples") / "ci"
SECONDS = 5.0   # of simulated time
RATES = (100, 500)


def ratio(controllers, rate):
    """Simulated seconds in a second of wall time."""
    from screw_dynamics.testing import RobotSimulator

    with RobotSimulator(EXAMPLE / "arm.urdf", controllers, period=1.0 / rate,
                        parameters={"hold_until_first_command": bool(controllers)}) as simulator:
        simulator.advance(0.5)
        begin = time.perf_counter()
        simulator.advance(SECONDS)
        return SECONDS / (time.perf_counter() - begin)


def main():
    """Measure and print."""
    pytest_screw_dynamics.isolate()
    controller = [sys.executable, str(EXAMPLE / "gravity_controller.py"), str(EXAMPLE / "arm.urdf")]
    for rate in RATES:
        for name, controllers in (("in lockstep with a controller", [controller]), ("without a controller", [])):
            times = ratio(controllers, rate)
            print(f"{name}, {rate} states a simulated second: {times:.1f} times real time", flush=True)


if __name__ == "__main__":
    main()
