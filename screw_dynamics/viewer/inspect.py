"""A text report on the robot of a URDF: tree, joints, screws, masses, limits, and warnings.

Usage: ros2 run screw_dynamics inspect_robot robot.urdf, or python -m screw_dynamics.viewer.inspect robot.urdf; see
--help. Arguments of a xacro file follow it, as for xacro: robot.urdf.xacro name:=value."""
import argparse
import os
import shlex
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from screw_dynamics.description.urdf.error import UrdfError
from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.description.urdf.source import read_source
from screw_dynamics.description.urdf.xacro_file import xacro_arguments
from screw_dynamics.description.urdf.xml import parse_xml
from screw_dynamics.model.floating_base import motion_names
from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays

WIDTH = 120         # columns of the report
LONGEST_NAME = 30   # columns of a name in a table; longer names are shortened in the middle
DEEPEST = 16        # largest number of branchings with indentation in the tree


def report(model: Model, name: str = "robot") -> str:
    """Return the report on a model, in lines of at most WIDTH columns unless a link's name is longer."""
    mass = arrays.inertia(model.root_inertia).mass + sum(arrays.inertia(M).mass for M in model.inertias)
    degrees = f" of {model.n} degrees of freedom" * (model.n > len(model.joint_names))
    title = (f"{name}: {_count(len(model.joint_names), 'joint')}{degrees}, "
             f"{_count(len(_moving(model)), 'moving body', 'moving bodies')}, "
             f"{_count(len(model.frames), 'link')}, {mass:.6g} kg")
    parts = {
        "Tree: each link with the joint that moves it; + links fixed to it, merged into one body": _tree(model),
        f"Joints, in the order of {'velocities' if model.on_groups else 'q'} (rad or m; rad/s or m/s; N m or N)":
            _joints(model),
        f"Screws Y_i in the frame of {model.root} at q = 0 (angular, linear)": _screws(model),
        "Bodies, links fixed to them included: center of mass (m) in the body's frame, principal moments (kg m^2)":
            _bodies(model),
        "Mimic joints: no coordinates of their own": _mimics(model),
        "Loops and gears: what else holds between the joints": _constraints(model),
        "Warnings": [line for text in model.warnings for line in textwrap.wrap(
            text, WIDTH - 2, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)] or ["none"],
    }
    lines = [title]
    for heading, found in parts.items():
        rows = list(found)
        lines += ["", heading, *(f"  {row}".rstrip() for row in rows)] if rows else []
    return "\n".join(lines)


def _tree(model: Model) -> Iterator[str]:
    """Yield the bodies in their depth-first order: |- at a branching, -> along a chain, without indentation."""
    merged, branches, indents = defaultdict(list), Counter(model.parents.tolist()), {-1: 0}
    kinds, moving = [model.kind_of(joint) for joint in model.body_joints], _moving(model)
    for link, (body, _) in model.frames.items():
        if link not in (model.root, *model.body_names):
            merged[body].append(link)
    yield model.root
    yield from _fixed(merged[-1], "")
    for i, parent in enumerate(model.parents.tolist()):
        branch, indent = branches[parent] > 1, "   " * min(indents[parent], DEEPEST)
        indents[i] = indents[parent] + branch
        if i not in moving:
            continue
        yield f"{indent}{'|-' if branch else '->'} {model.body_names[i]}   {kinds[i]} {model.body_joints[i]}"
        yield from _fixed(merged[i], indent)


def _moving(model: Model) -> list[int]:
    """Return the indices of the bodies that are links: of a Lie-group joint's bodies the last."""
    joints = model.body_joints
    return [i for i, joint in enumerate(joints) if joint not in joints[i + 1:i + 2]]


def _fixed(links: Iterable[str], indent: str) -> list[str]:
    start = f"{indent}   + "
    return textwrap.wrap(", ".join(links), WIDTH - 2, initial_indent=start, subsequent_indent=" " * len(start),
                         break_on_hyphens=False, break_long_words=False)


def _joints(model: Model) -> Iterator[str]:
    limits = zip(model.lower, model.upper, model.velocity_limit, model.effort_limit, model.damping, model.friction,
                 model.armature, strict=True)
    names = [(motion, kind) for name, kind in zip(model.joint_names, model.joint_kinds, strict=True)
             for motion in motion_names(model, name)]
    rows = [(str(k), *name, *map(_number, values)) for k, (name, values) in enumerate(zip(names, limits, strict=True))]
    titles = "lower", "upper", "velocity", "effort", "damping", "friction", "armature"
    return _table(("", "joint", "type", *titles), rows, names=3)


def _screws(model: Model) -> Iterator[str]:
    names = [motion for joint in dict.fromkeys(model.body_joints) for motion in motion_names(model, joint)]
    rows = [(name, *map(_number, Y)) for name, Y in zip(names, model.screws_spatial, strict=True)]
    return _table(("joint", "wx", "wy", "wz", "vx", "vy", "vz"), rows, names=1)


def _bodies(model: Model) -> Iterator[str]:
    rows, moving = [], [(model.body_names[i], model.inertias[i]) for i in _moving(model)]
    for name, matrix in ((model.root, model.root_inertia), *moving):
        M = arrays.inertia(matrix)
        com = np.array(M.moment) / M.mass if M.mass else np.zeros(3)
        moments = np.linalg.eigvalsh(matrix[:3, :3] + M.mass * arrays.tilde(com) @ arrays.tilde(com))
        rows.append((name, *map(_number, (M.mass, *com, *moments))))
    return _table(("body", "kg", "x", "y", "z", "I1", "I2", "I3"), rows, names=1)


def _mimics(model: Model) -> Iterator[str]:
    for joint, (leader, multiplier, offset) in model.mimics.items():
        shift = f" {'-' if offset < 0 else '+'} {abs(offset):g}" if offset else ""
        yield f"{joint} = {multiplier:g} {leader}{shift}"


def _constraints(model: Model) -> Iterator[str]:
    for given in model.constraints:
        yield f"{given.name}: {given}"


# ------------------------------------------------------------------------------------------------- text
def _table(header: Sequence[str], rows: Sequence[Sequence[str]], names: int) -> Iterator[str]:
    """Yield rows aligned below a header: the first `names` columns left, numbers right. Yields nothing without rows.

    The column with the longest name is limited to the remaining width."""
    if not rows:
        return
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    longest = widths.index(max(widths[:names]))
    left = WIDTH - 2 - 2 * (len(widths) - 1) - (sum(widths) - widths[longest])
    widths[longest] = min(widths[longest], LONGEST_NAME, max(8, left))
    for row in (header, *rows):
        yield "  ".join(f"{_short(cell, width):<{width}}" if k < names else f"{cell:>{width}}"
                        for k, (cell, width) in enumerate(zip(row, widths, strict=True)))


def _number(x: float) -> str:
    """Return at most eight characters: four digits; "-" if not finite (no limit); 0 for rounding errors."""
    if not np.isfinite(x):
        return "-"
    return "0" if abs(x) < 1e-12 else f"{x:.4g}"


def _short(name: str, width: int) -> str:
    """Return a name shortened to `width` columns in the middle: beginning and end distinguish names."""
    if len(name) <= width:
        return name
    end = (width - 2) // 2
    return f"{name[:width - 2 - end]}..{name[len(name) - end:]}"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


# ------------------------------------------------------------------------------------------------- command
def _text(location: str, xacro_args: Mapping[str, str]) -> str:
    if location != "-":
        return read_urdf_file(location, xacro_args)
    if xacro_args:
        raise UrdfError("xacro_args are given, but standard input is read as URDF: give the path of the xacro file")
    return read_source(sys.stdin.buffer)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report on a file. Return 0, or 1 after an error message if the file cannot be read."""
    parser = argparse.ArgumentParser(
        prog="inspect_robot", description="Prints tree, joints, screws, masses, limits and warnings of a robot.")
    parser.add_argument("urdf", help="URDF or xacro file: a path, package://<package>/<path>, or - for standard input")
    parser.add_argument("xacro_args", nargs="*", metavar="name:=value", help="arguments of the xacro file")
    parser.add_argument("--base-link", metavar="LINK", help="root of the part of the robot in use")
    parser.add_argument("--tip-link", metavar="LINK", help="last link of a chain from the base link")
    given = parser.parse_args(arguments)
    try:
        text = _text(given.urdf, xacro_arguments(shlex.join(given.xacro_args)))
        model = model_of(text, given.base_link, given.tip_link)
        print(report(model, parse_xml(text).get("name") or "robot"), flush=True)
    except BrokenPipeError:     # the pipe was closed, for example by head; Python would report it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError) as error:
        print(f"inspect_robot: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
