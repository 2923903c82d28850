"""A loop at 1 kHz in C: the dynamics of a robot are exported, built into a controller and a robot, which talk over UDP.

python examples/c_loop.py [robot.urdf] [--seconds 3]. Takes gcc. The robot should have joints of one degree of freedom;
examples/c_loop has the two programs."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import screw_dynamics as sd

HERE = Path(__file__).resolve().parent
FLAGS = "-O3", "-march=native", "-Wall", "-Wextra"


def built(program, folder):
    """The path of a program, compiled with what was exported."""
    path = folder / program
    subprocess.run(["gcc", *FLAGS, "-I", folder / "arm" / "include", HERE / "c_loop" / f"{program}.c",
                    folder / "arm" / "src" / "arm.c", "-o", path, "-lm"], check=True)
    return path


def main():
    """Export, build, and run both."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("urdf", nargs="?", default=str(HERE.parent / "urdf" / "spherical_arm.urdf"))
    parser.add_argument("--seconds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sd.Robot.from_urdf(given.urdf).export_c(folder / "arm", quantities=["inverse_dynamics", "step"])
        robot, controller = (built(program, folder) for program in ("robot", "controller"))
        with subprocess.Popen([robot], stdout=subprocess.PIPE, text=True) as running:
            try:
                port = running.stdout.readline().strip()
                return subprocess.run([controller, port, str(given.seconds)]).returncode
            finally:
                running.terminate()


if __name__ == "__main__":
    sys.exit(main())
