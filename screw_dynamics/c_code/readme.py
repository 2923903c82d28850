"""The README.md of an export."""
from .functions import Function
from .layout import Export
from .loops import Looped
from .printing import identifier
from .template import filled


def readme(export: Export) -> str:
    """Return the contents of README.md."""
    robot = export.robot
    joints = [f"| {joint} | {_places(robot.q_slices[joint])} | {_places(robot.v_slices[joint])} | "
              f"{export.kind_of(joint)} |" for joint in robot.joint_names]
    joints += [f"| {joint} | follows {leader} | | |" for joint, (leader, *_) in robot.model.mimics.items()]
    functions = [line for function, _ in export.functions for line in _section(export, function)]
    loops = "no loops over bodies and no branches"
    if any(isinstance(straight, Looped) for _, straight in export.functions):
        loops = "loops over bodies where lines would be too many, and no other branches"
    title = export.title[len(export.name) + 2:]
    return filled("c/readme.md", {
        "name": export.name, "NAME": export.name.upper(), "title": title[0].upper() + title[1:],
        "root": robot.model.root, "joints": "\n".join(joints), "functions": "\n".join(functions).rstrip(),
        "loops": loops, "limit": "1e6" if export.dialect.scalar == "double" else "8192",
        "use": "\n".join(_use(export, export.functions[0][0]))})


def _places(s):
    return str(s.start) if s.stop - s.start == 1 else f"{s.start} to {s.stop - 1}"


def _section(export, function: Function):
    """Yield the description of a function and of its arguments."""
    yield f"### `{export.called(function)}`"
    yield f"{function.summary[0].upper()}{function.summary[1:]}."
    yield ""
    yield from (f"- {line}" for line in export.meanings(function))
    yield ""


def _use(export, function: Function):
    """Yield an example call."""
    for x in (*function.inputs, *function.outputs):
        value = "" if x in function.outputs else " = {0}" if x.shape else " = 0"
        yield f"{export.dialect.scalar} {identifier(x.name)}{f'[{x.size}]' * bool(x.shape)}{value};"
    names = (identifier(x.name) for x in (*function.inputs, *function.outputs))
    yield f"{export.called(function)}({', '.join(names)});"
