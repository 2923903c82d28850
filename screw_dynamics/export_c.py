"""Exports a robot's functions as C: a folder of C99 with a C++ header, a CMake package and a test; docs/c_export.md.

ros2 run screw_dynamics export_c robot.urdf folder, or python -m screw_dynamics.export_c robot.urdf folder; --help
lists the options. The arguments of a xacro file come last, as with xacro: robot.urdf.xacro folder name:=value."""
import argparse
import shlex
import sys
import warnings
from collections.abc import Sequence

from screw_dynamics.c_code.quantities import DEFAULT, QUANTITIES
from screw_dynamics.description.urdf.error import UrdfWarning
from screw_dynamics.description.urdf.xacro_file import xacro_arguments
from screw_dynamics.robot import GRAVITY, Robot


def main(arguments: Sequence[str] | None = None) -> int:
    """Export the robot of a file. Return 0, or 1 with one line on standard error if the export fails."""
    given = _parser().parse_intermixed_args(arguments)
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", UrdfWarning)
            robot = Robot.from_urdf(given.urdf, given.base_link, given.tip_link, given.gravity,
                                    floating_base=given.floating_base,
                                    xacro_args=xacro_arguments(shlex.join(given.xacro_args)))
        for warning in found:
            print(f"export_c: {warning.message}", file=sys.stderr)
        links = [tuple(link.split(":")) for link in given.links] if given.links else None
        paths = robot.export_c(given.folder, given.name, given.quantities or None, links=links,
                               precision=given.precision, external=given.external, payload=given.payload,
                               gravity=given.gravity_argument, ros2_control=given.ros2_control)
        print(*paths, sep="\n")
    except (ValueError, OSError) as error:
        print(f"export_c: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = argparse.ArgumentParser(prog="export_c", description="Writes a robot's functions as C99 to a folder.")
    parser.add_argument("urdf", help="URDF or xacro file")
    parser.add_argument("folder", help="where to write; it is made if need be")
    parser.add_argument("xacro_args", nargs="*", metavar="name:=value", help="arguments of the xacro file")
    parser.add_argument("--name", help="prefix of all names; by default the folder's name, "
                        "or PACKAGE_dynamics")
    parser.add_argument("--quantities", nargs="+", choices=QUANTITIES, metavar="QUANTITY", default=[],
                        help=f"of {', '.join(QUANTITIES)}; by default the first {len(DEFAULT)}")
    parser.add_argument("--links", nargs="+", metavar="LINK[:REPRESENTATION[:REFERENCE]]", default=[],
                        help="links of kinematics; by default the last bodies of the branches")
    parser.add_argument("--precision", choices=("double", "float"), default="double")
    parser.add_argument("--external", nargs="+", metavar="LINK", default=[],
                        help="links on which external wrenches act")
    parser.add_argument("--payload", nargs="+", metavar="LINK", default=[],
                        help="links with a load that is an argument")
    parser.add_argument("--gravity-argument", action="store_true", help="gravity is an argument")
    parser.add_argument("--ros2-control", metavar="PACKAGE",
                        help="write a package of ROS 2 with that name around it, with a controller of ros2_control")
    parser.add_argument("--gravity", nargs=3, type=float, metavar=("X", "Y", "Z"), default=GRAVITY,
                        help="m/s^2, in the frame of the root link")
    parser.add_argument("--floating-base", action="store_true", help="the root link moves freely")
    parser.add_argument("--base-link", metavar="LINK", help="root of the part of the robot in use")
    parser.add_argument("--tip-link", metavar="LINK", help="last link of a chain from the base link")
    return parser


if __name__ == "__main__":
    sys.exit(main())
