"""Export of a control law as a package with a chainable controller for ros2_control."""
from __future__ import annotations

import os
import re
from inspect import getdoc
from math import isfinite
from pathlib import Path

import numpy as np

from screw_dynamics.c_code.export import CPP, files_of, known_folder, prepared, write_files
from screw_dynamics.c_code.printing import KEYWORDS, identifier
from screw_dynamics.c_code.ros2_control import in_yaml, known_package, package
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .law import POSE, REFERENCES, WRENCH, Law, Parameter, known_robot
from .traced import function_of, known_repeatable

FILES = {"package.xml": "manifest.xml", "CMakeLists.txt": "build.cmake", "README.md": "readme.md",
         "{0}.xml": "plugin.xml", "config/controllers.yaml": "controllers.yaml",
         "src/{0}_parameters.yaml": "parameters.yaml", "include/{0}/law.hpp": "law.hpp",
         "src/controller.cpp": "controller.cpp"}
# Parameters of every controller: default, meaning.
OWN = {"largest_step": (0.1, "rad or m by which a reference position may move in a cycle; 0: any"),
       "reference_timeout": (0.1, "s without a new reference after which it stands still; 0: never"),
       "longest_period": (0.1, "s of a cycle; 0: any")}
# Names of every controller: parameters of nodes, and of controllers in a controller manager; types of the templates and
# of generate_parameter_library; what C and C++ headers of an export define; words of YAML.
OF_NODES = frozenset("use_sim_time start_type_description_service update_rate is_async thread_priority".split())
TYPES = frozenset("Array CallbackReturn Fault Inputs Law ParamListener Parameters Params Pose Reference StackParams "
                  "State Wrench".split())
OF_HEADERS = frozenset("Matrix eigen joint_names joints n nq".split())
YAML = frozenset("false no null off on true yes".split())
SENSOR = """  sensor:
    type: string
    default_value: ""
    description: "force-torque sensor at the link, whose state interfaces are read\""""
IN_POSE = [("pose/position", x) for x in "xyz"] + [("pose/orientation", x) for x in "xyzw"]
STANDING = "position", POSE, WRENCH     # references that stay when no new ones come


def export_controller(robot: Robot, law: Law, folder: str | os.PathLike, name: str | None = None) -> list[Path]:
    """Write a ROS 2 package with a control law as a chainable controller of ros2_control.

    Parameters
    ----------
    robot : Robot
        Robot, whose joints have one degree of freedom.
    law : Law
        Control law.
    folder : str or path-like
        Folder, which is created if missing.
    name : str, optional
        Name of the package; by default that of the folder.

    Returns
    -------
    list of pathlib.Path
        Paths of the files.

    Raises
    ------
    ValueError
        If the law calls what cannot be exported, or a name cannot be one of C++ or ROS. The error names it.
    FileExistsError
        If the folder has a file of that name that was not exported, or a package of another name. The error names it.

    Notes
    -----
    The law runs once on numbers that record its operations; these become C without loops, branches and allocation, with
    a test against the law in Python. The controller claims efforts, reads positions and velocities, and exports the
    references of the law, which preceding controllers set. Parameters are those of the law, by
    generate_parameter_library.
    """
    known_folder(folder)
    known_robot(robot)
    name = identifier(Path(folder).resolve().name) if name is None else name
    known_package(robot, name, CPP, None, "double", {}, "name")
    if not isinstance(law, Law):
        raise ValueError(f"law {checks.described(law)} must be a control.Law: a function decorated by control.law(...)")
    _known_names(law)
    quantities, links = (("forward_kinematics",), [law.link]) if POSE in law.reference else ((), ())
    function = function_of(law, robot)
    export = prepared(robot, f"{name}_law", quantities, links, more=[function])
    known_repeatable(law, robot, function)
    parts = _parts(robot, law, name, export.name)
    return write_files(folder, package(export, name, FILES, "controller", parts) | {
        f"{export.name}/{path}": text for path, text in files_of(export).items()})


def _known_names(law):
    """Raise ValueError if the name of a law, of a parameter or of an array of its state cannot be one in C++."""
    for x in (law.name, *(row.name for row in law.rows), *law.state):
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", x):
            raise ValueError(f"law {law.name}: the name {x!r} must be an identifier of C: a letter, then letters, "
                             "digits and _; a lambda has none")
        if x in KEYWORDS | CPP | TYPES | OF_NODES or x in (*OWN, "sensor") or x.lower() in YAML:
            raise ValueError(f"law {law.name}: {x!r} is a word of C++ or YAML, or a parameter of every controller: "
                             "take another")
    if _class(law) in TYPES or law.name in OF_HEADERS:
        raise ValueError(f"law {law.name}: {law.name!r} is a name in the C++ of every controller: rename the function")


def _class(law) -> str:
    """Return the name of the class of the controller."""
    return "".join(part.capitalize() for part in law.name.split("_"))


def _parts(robot, law, name, c_name) -> dict[str, str]:
    """Return what the templates contain of a law."""
    kinds = {1: "Array", 2: "Pose"}
    chained = [x for x in law.reference if x != WRENCH]
    inputs, first = [], {}
    for reference in chained:
        first[reference] = len(inputs)
        inputs += IN_POSE if reference == POSE else [(joint, reference) for joint in robot.joint_names]
    defaults, sizes = law.values(robot), law.sizes(robot)
    array = {row.name: np.ndim(x) > 0 for row, x in zip(law.rows, defaults, strict=True)}
    taken = "\n".join(
        f"    fault = fault == Fault::none ? take(given, {first[x]}, reference.{x}, "
        f"{'largest_step' if x in ('position', POSE) else 'infinity'}"
        + ("" if x == POSE else ", q.data()" if x == "position" else ", nullptr") + ") : fault;" for x in chained)
    rest = {"position": "reference_.position = q;", POSE: f"{c_name}_forward_kinematics_{identifier(law.link or '')}"
            "(q.data(), reference_.pose.data());"}
    arguments = ["time_", "q.data()", "qd.data()", *(f"reference.{x}.data()" for x in law.reference),
                 *(f"state_.{x}.data()" for x in law.state), *(["dt"] if law.state else []),
                 *(f"parameters.{x}{'.data()' * array[x]}" for x in array), "found.data()",
                 *(f"next.{x}.data()" for x in law.state)]
    return {
        "law": law.name, "Class": _class(law),
        "summary": getdoc(law.function) or "", "inputs": str(len(inputs)),
        "input_names": "\n".join(f"  {{{_quoted(a)}, {_quoted(b)}}}," for a, b in inputs),
        "senses": str(WRENCH in law.reference).lower(),
        "parameters": "\n".join(f"  {'Array' if array[row.name] else 'double'} {row.name}{{}};" for row in law.rows),
        "references": "\n".join("  Wrench wrench{};" if x == WRENCH else f"  {kinds[len(REFERENCES[x][0])]} {x}{{}};"
                                for x in law.reference),
        "states": "\n".join(f"  std::array<double, {size}> {x}{{}};" for x, size in sizes.items()),
        "rest": "\n".join(f"    {rest[x]}" for x in chained if x in rest) or "    (void)q;",
        "taken": taken, "stopped": "\n".join(f"      reference.{x}.fill(0.0);" for x in law.reference
                                             if x not in STANDING),
        "sensed": "    reference.wrench = wrench;" if WRENCH in law.reference else "    (void)wrench;",
        "call": _call(f"    {c_name}_{identifier(law.name)}(", arguments),
        "configured": "\n".join(f'    law_.parameters.{x} = {"array" if array[x] else "number"}("{x}", params.{x});'
                                for x in array),
        "sensor": "params.sensor" if WRENCH in law.reference else "std::string()",
        "values": "\n".join([*(f"    {row.name}: {_value(x)}    # {row.unit or 'a number'}" for row, x in zip(
            law.rows, defaults, strict=True)), *(f"    {x}: {value}" for x, (value, _) in OWN.items()),
            *(["    sensor: tcp_fts_sensor"] if WRENCH in law.reference else [])]),
        "declared": "\n".join([*(_declared(row, x) for row, x in zip(law.rows, defaults, strict=True)), *(
            _declared(Parameter(x, value, text, "", 0.0, float("inf"), False), value) for x, (value, text) in
            OWN.items()), *([SENSOR] if WRENCH in law.reference else [])]),
        "and_sensor": ", and the force-torque sensor of its parameter `sensor`, whose frame is that of "
                      f"`{law.link}`" if WRENCH in law.reference else "",
        "reference_rows": "\n".join(
            "- `pose/position/x` ... `z` and `pose/orientation/x` ... `w`: the pose of "
            f"`{law.link}` in the root link, m, as a unit quaternion" if x == POSE else
            f"- `<joint>/{x}`: {REFERENCES[x][1]}" for x in chained) or "- none",
        "parameter_rows": "\n".join(f"| `{row.name}` | {_told(row)}{', one for each joint' * row.per_joint} |"
                                    for row in law.rows)}


def _told(row):
    """Return the description of a parameter with its unit, for a table of Markdown."""
    return f"{row.description}{row.unit and f', {row.unit}'}".replace("|", "&#124;")


def _declared(row, default):
    """Return the declaration of a parameter for generate_parameter_library."""
    array = np.ndim(default) > 0
    lines = [f"  {row.name}:", f"    type: double{'_array' * array}", f"    default_value: {_value(default)}",
             f"    description: {in_yaml(row.description + (row.unit and f' [{row.unit}]'))}"]
    bounds = [(f"{'lower_element_bounds' if array else 'gt_eq'}<>", row.lower),
              (f"{'upper_element_bounds' if array else 'lt_eq'}<>", row.upper)]
    checked = [("fixed_size<>", len(default))] * array if array else []
    checked += [(check, bound) for check, bound in bounds if isfinite(bound)]
    return "\n".join([*lines, *(["    validation:"] if checked else []), *(
        f"      {check}: [{bound if check == 'fixed_size<>' else _value(bound)}]" for check, bound in checked)])


def _value(x):
    """Return a number or numbers for YAML, which takes 1e-06 for a text, and 1.0e-06 for a number."""
    if np.ndim(x):
        return f"[{', '.join(map(_value, x))}]"
    return re.sub(r"^(-?\d+)e", r"\1.0e", repr(float(x)))


def _quoted(text):
    """Return a text as a C++ string."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _call(begin, arguments):
    """Return a call, with lines of at most 120 columns."""
    lines = [begin]
    for k, argument in enumerate(arguments):
        text = argument + (", " if k < len(arguments) - 1 else ");")
        if len(lines[-1] + text) > 120:
            lines[-1] = lines[-1].rstrip()
            lines.append("      ")
        lines[-1] += text
    return "\n".join(lines)
