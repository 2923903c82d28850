"""Writes the lists of docs/reference/ros.md from the tables by which the nodes make their endpoints and parameters.

    PYTHONPATH=. python docs/ros_reference.py

The tables import message packages: where ROS is not installed, stand-ins are enough, as only names, texts and numbers
are read."""
import json
import re
from pathlib import Path

from stand_ins import stand_ins

ROOT = Path(__file__).resolve().parent.parent
# In the repository; beside it, in the tree of a release.
INTERFACES = next(folder / "screw_dynamics_interfaces" for folder in (ROOT, ROOT.parent)
                  if (folder / "screw_dynamics_interfaces").is_dir())
PAGE = ROOT / "docs" / "reference" / "ros.md"
BEGIN = "<!-- docs/ros_reference.py writes all that follows. -->\n"
OF_ROS = ("builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "launch", "launch_ros", "lifecycle_msgs",
          "nav_msgs", "rcl_interfaces", "rclpy", "rosgraph_msgs", "screw_dynamics_interfaces", "sensor_msgs",
          "std_msgs", "std_srvs", "trajectory_msgs", "visualization_msgs")
NAME = re.compile(
    r"(?<![\w/])(\w+://[\w<>/]+|~?/?(?:[\w<>]+/)*(?:<\w+>|\w+_\w+)(?:[/.]\w+)*|~/\w+|/\w+)(?!\w)")
# Of parameters of single joints.
DEFAULTS = {"initial_positions": "0, or the middle of the range where that does not contain 0",
            "command_interfaces": "`command_mode`; `velocity` of wheels that `cmd_vel` drives; `passive` of joints of "
                                  "closed loops without an effort limit where others have one"}
TYPES = {bool: "bool", int: "integer", float: "double", str: "string"}


def listed(rows: list[tuple[str, str]]) -> str:
    """A list of terms with what each is: tables would be too wide for a phone."""
    return "".join(f"- {term}: {words}\n" for term, words in rows) + "\n"


def marked_up(text: str) -> str:
    """Plain text with the names of topics, parameters and other things of ROS as code, but what is code already."""
    parts = text.split("`")
    parts[::2] = [NAME.sub(r"`\1`", part) for part in parts[::2]]
    return "`".join(parts)


def link(kind: str) -> str:
    """The name of a type, which leads to its definition if that is ours."""
    return f"[{kind}](#{kind.rpartition('/')[2].lower()})" if kind.startswith("screw_dynamics_interfaces") else kind


def endpoints(title: str, rows, node: str) -> str:
    """What a node has of one sort."""
    if not rows:
        return ""
    words = [marked_up(row.description + (f"; only with {row.when}" if row.when else "")) for row in rows]
    return f"### {title} ({node})\n\n" + listed(
        [(f"`{row.name}` {link(row.kind)}", text) for row, text in zip(rows, words, strict=True)])


def values(row) -> str:
    """Return the values that a parameter may have."""
    if row.choices:
        return " or ".join(f"`{choice}`" if choice else "empty" for choice in row.choices)
    text = ""
    if row.lower is not None and row.upper is not None:
        text = f"{row.lower:g} to {row.upper:g}"
    elif row.lower is not None:
        text = f"from {row.lower:g}"
    if row.least:
        text = f"0, or {row.least:g} to {row.upper:g}" if row.upper is not None else f"0, or from {row.least:g}"
    return text + (f"{'; ' if text else ''}{row.length} values" if row.length is not None else "")


def kind(row) -> str:
    """The type of a parameter."""
    if isinstance(row.default, tuple):
        return f"{TYPES[type(row.default[0])] if row.default else 'string'}[]"
    return TYPES[type(row.default)]


def default(row) -> str:
    """Its default; of what one joint has instead of all that of these, or as DEFAULTS have it."""
    if row.name.endswith(".<joint>"):
        of_all = row.name.partition(".")[0]
        return DEFAULTS.get(of_all, f"that of `{of_all}`")
    given = list(row.default) if isinstance(row.default, tuple) else row.default
    return f"`{json.dumps(given)}`"


def parameters(rows, node: str, title: str = "Parameters") -> str:
    """The parameters of a node."""
    def facts(row):
        unit = f" [{row.unit}]" if row.unit not in ("", "1") else ""
        return ", ".join(filter(None, (f"{kind(row)}{unit}", values(row), f"default {default(row)}",
                                       "" if row.read_only else "**at run time**")))
    return f"### {title} ({node})\n\n" + listed([(f"`{row.name}` {facts(row)}", marked_up(row.description))
                                               for row in rows])


def definitions() -> str:
    """The files of our own types, whole: their comments are the specification."""
    parts = []
    for path in sorted([*INTERFACES.glob("msg/*.msg"), *INTERFACES.glob("srv/*.srv")]):
        parts.append(f"### {path.stem}\n\n`screw_dynamics_interfaces/{path.parent.name}/{path.stem}`\n\n"
                     f"```text\n{path.read_text()}```\n")
    return "\n".join(parts)


def ros_reference() -> str:
    """What follows the opening of the page."""
    with stand_ins(OF_ROS):
        from screw_dynamics.ros import launching
        from screw_dynamics.ros.dynamics import interface as dynamics
        from screw_dynamics.ros.dynamics import settings as dynamics_settings
        from screw_dynamics.ros.simulator import interface as simulator
        from screw_dynamics.ros.simulator import settings as simulator_settings
        from screw_dynamics.ros.simulator import trajectory_settings
        from screw_dynamics.ros.view import interface as view
        from screw_dynamics.ros.view import markers_node, recorder_node, view_node
        from screw_dynamics.simulator.sensor_settings import OF_JOINTS
    by_joint = [row._replace(name=f"{row.name}.<joint>", description=row.description.format(joint="the joint"),
                             default=default)
                for row, default in ((simulator_settings.INITIAL_POSITIONS, 0.0),
                                     (simulator_settings.COMMAND_INTERFACES, "effort"))]
    sensed = [row for row in simulator_settings.SETTINGS if row.name in OF_JOINTS]
    by_joint += [row._replace(name=f"{row.name}.<joint>", description=f"{row.description} (this joint)")
                 for row in sensed]
    groups = [row._replace(name=f"<group>.{row.name}") for row in trajectory_settings.GROUP]
    groups += [row._replace(name=f"<group>.constraints.<joint>.{row.name}") for row in trajectory_settings.JOINT]
    nodes = (
        ("dynamics_node", "screw_dynamics", "Torques of the robot of `robot_description` at its `joint_states`, and "
         "services for everything else.", dynamics.INTERFACE, dynamics_settings.SETTINGS, ()),
        ("simulator_node", "screw_simulator", "A simulated robot.", simulator.INTERFACE, simulator_settings.SETTINGS,
         (("Parameters of single joints", by_joint), ("Parameters of groups", groups))),
        ("view_node", "screw_view", "A web page of the robot as it moves ([viewing](../viewing.md)).",
         view.VIEW, view_node.SETTINGS, ()),
        ("markers_node", "screw_markers", "Screws and efforts for RViz ([viewing](../viewing.md)).", view.MARKERS,
         markers_node.SETTINGS, ()),
        ("recorder_node", "screw_recorder", "An MCAP file of topics ([viewing](../viewing.md)).", view.RECORDER,
         recorder_node.SETTINGS, ()),
    )
    parts = []
    for executable, name, words, interface, settings, more in nodes:
        parts.append(f"## {executable}\n\nThe node `{name}`. {words}\n\n")
        for title, rows in zip(("Publishes", "Subscribes to", "Services", "Actions"), interface, strict=True):
            parts.append(endpoints(title, rows, executable))
        parts.append(parameters(settings, executable))
        parts += [parameters(rows, executable, title) for title, rows in more]
    launch = [(f"`{name}`" + (f", default `{value}`" if value else ""), marked_up(words))
              for name, (value, words) in launching.ARGUMENTS.items()]
    parts.append("## Launch files\n\n`dynamics.launch.py`, `simulation.launch.py` and `ros2_control.launch.py` have "
                 f"these arguments:\n\n{listed(launch)}")
    return "\n" + "".join(parts) + "\n## Types\n\n" + definitions()


def page() -> str:
    """The text of the page: what stands before BEGIN, and the lists."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN + ros_reference().rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
