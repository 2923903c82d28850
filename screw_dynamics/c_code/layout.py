"""Data common to all files of an export: the robot, the functions with their code, and their names in C."""
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from screw_dynamics.model.group_joints import GROUPS

from .functions import Array, Function
from .printing import UNBROKEN, Dialect, comment, identifier
from .tracing import Straight


@contextmanager
def printed(function: Function) -> Iterator[None]:
    """Add the function's name to ValueErrors in a `with` block, for numbers that C cannot represent."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{function.name} of this robot: {error}") from None


@dataclass(frozen=True)
class Export:
    """A robot, the dialect of its C, and its functions with their straight-line code; version: of this package."""

    robot: Any
    dialect: Dialect
    functions: Sequence[tuple[Function, Straight]]
    version: str

    @property
    def name(self) -> str:
        """The prefix of all names, including file names."""
        return self.dialect.prefix

    @property
    def title(self) -> str:
        """The title of the files."""
        return (f"{self.name}: dynamics of a robot of {_count(len(self.robot.joint_names), 'joint')}, in "
                f"{self.dialect.scalar} precision; printed by screw_dynamics {self.version}, not to be edited.")

    def called(self, function: Function) -> str:
        """Return the name of a function in C."""
        return f"{self.name}_{identifier(function.name)}"

    def prototype(self, function: Function) -> str:
        """Return the declaration of a function, without its semicolon."""
        arguments = [self.declared(x, "const ") for x in function.inputs] + [self.declared(x) for x in function.outputs]
        return f"void {self.called(function)}({', '.join(arguments)})"

    def declared(self, x: Array, const: str = "") -> str:
        """Return the declaration of an argument."""
        text = (f"{self.dialect.scalar} {identifier(x.name)}" if x.shape == () else
                f"{const}{self.dialect.scalar} {identifier(x.name)}[{x.size}]")
        return text.replace(" ", UNBROKEN)

    def meanings(self, function: Function) -> Iterator[str]:
        """Yield a line with the meaning of each argument and result."""
        for x in (*function.inputs, *function.outputs):
            size = "" if x.shape == () else f" ({' x '.join(map(str, x.shape))}, row after row)" if len(x.shape) > 1 \
                else f" ({x.size})"
            yield f"{'in ' if x in function.inputs else 'out'} {identifier(x.name)}{size}: {x.meaning}"

    def kind_of(self, joint: str) -> str:
        """Return the kind of a joint and, for a Lie-group joint, the entries of q and of the velocities."""
        kind = self.robot.model.kind_of(joint)
        if kind not in GROUPS:
            return kind
        return f"{kind}: q is {' '.join(GROUPS[kind].numbers)}, velocities {' '.join(GROUPS[kind].motions)}"

    def coordinates(self) -> Iterator[str]:
        """Yield a line for each joint with the indices of its coordinates and its kind."""
        robot = self.robot
        for joint in robot.joint_names:
            q, v = robot.q_slices[joint], robot.v_slices[joint]
            yield f"{joint}: q{_places(q)}, velocities and efforts {_places(v)}, {self.kind_of(joint)}"
        for joint, (leader, *_) in robot.model.mimics.items():
            yield f"{joint}: no coordinate of its own, follows {leader}"


def _places(s):
    return f"[{s.start}]" if s.stop - s.start == 1 else f"[{s.start}..{s.stop - 1}]"


def _count(n, one):
    return f"{n} {one}{'s' * (n != 1)}"


def block(paragraphs: Iterable[str], hang: str = "  ") -> list[str]:
    """Return a comment with paragraphs, wrapped to the line width."""
    lines = [line for text in paragraphs
             for line in textwrap.wrap(comment(text), 115, subsequent_indent=hang, break_on_hyphens=False) or [""]]
    return [f"{'/*' if i == 0 else ' *'} {line}".rstrip() for i, line in enumerate(lines)] + [" */"]
