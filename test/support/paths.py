"""Folders of the repository."""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
URDF = ROOT / "urdf"
# In the repository; beside it, in the tree of a release.
INTERFACES = ROOT / "screw_dynamics_interfaces"
if not INTERFACES.is_dir():
    INTERFACES = ROOT.parent / INTERFACES.name
