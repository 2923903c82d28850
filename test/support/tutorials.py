"""The tutorials of the documentation, and their cells as programs."""
import re

from support.paths import ROOT

FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))
             if path.stem != "index"}
OF_NODES = "predictive_control", "ros2_control_and_moveit"


def cells(page: str) -> list[str]:
    """The code of a tutorial's cells."""
    return re.findall(r"^```{code-cell}[^\n]*\n(?::[^\n]*\n)*(.*?)^```", TUTORIALS[page], re.DOTALL | re.MULTILINE)
