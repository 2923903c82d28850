"""Twists and Jacobians of all bodies of a tree: one recursion, and one file for each representation; [MK] 3.

  body_fixed (14)-(20); spatial (28)-(30), (35); hybrid (38)-(42); mixed (50)-(52)

The recursion uses frames of the bodies, and of the world, on the axes of the joints (links.Link). frames.C contains the
poses of the bodies' own frames in these frames, in the order of the bodies. Each result is converted to them: [MK]
(20), (35)."""
from . import body_fixed, hybrid, mixed, spatial
from .recursion import recursions

# Named as in representations.REPRESENTATIONS.
_ENTRIES = {name: recursions(name, form.place, form.screw, form.moved, form.seen) for name, form in (
    ("body", body_fixed), ("spatial", spatial), ("hybrid", hybrid), ("mixed", mixed))}
BODY_TWISTS_IN, BODY_JACOBIANS_IN = ({name: entries[i] for name, entries in _ENTRIES.items()} for i in range(2))
