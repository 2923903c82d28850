"""The examples of the reference: programs in docs/reference/examples, in parts that begin with a line # %% and the
names that they are of: Robot, Robot.step, others as in screw_dynamics: Limits, se3.exp."""
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "reference" / "examples"


def parts(text: str) -> tuple[str, dict[str, str]]:
    """What comes before the first part of a program, without its docstring, and the code by name."""
    opening, *rest = re.split(r"^# %% (.*)\n", text, flags=re.MULTILINE)
    code = {name: body.strip("\n") for names, body in zip(rest[::2], rest[1::2], strict=True)
            for name in names.split(", ")}
    return re.sub(r'^"""(?:.|\n)*?"""\n', "", opening).strip("\n"), code


def examples() -> dict[str, str]:
    """The code of every name."""
    return {name: code for path in sorted(FOLDER.glob("*.py"))
            for name, code in parts(path.read_text(encoding="utf-8"))[1].items()}


def opening(program: str) -> str:
    """Return what the examples of a program share, as a paragraph of a page of the reference."""
    shared = parts((FOLDER / f"{program}.py").read_text(encoding="utf-8"))[0]
    return f"The following examples start with\n\n```python\n{shared}\n```\n"
