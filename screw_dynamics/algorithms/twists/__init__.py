"""Twists and Jacobians of all bodies of a tree: one recursion, and a file for each representation of twists, to be laid
side by side; [MK] 3.

  body_fixed (14)-(20); spatial (28)-(30), (35); hybrid (38)-(42); mixed (50)-(52)

The recursion sees the bodies, and the world, in frames on the axes of the joints (links.Link). frames.C has the bodies'
own frames in these, in the order of the bodies, by which each result is read off: [MK] (20), (35)."""
from . import body_fixed, hybrid, mixed, spatial

# Named as in representations.REPRESENTATIONS.
_MODULES = {"body": body_fixed, "spatial": spatial, "hybrid": hybrid, "mixed": mixed}
BODY_TWISTS_IN = {name: module.BODY_TWISTS for name, module in _MODULES.items()}
BODY_JACOBIANS_IN = {name: module.BODY_JACOBIANS for name, module in _MODULES.items()}

__all__ = ["BODY_JACOBIANS_IN", "BODY_TWISTS_IN"]
