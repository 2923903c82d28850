"""python -m screw_dynamics.recordings.campaigns replay FOLDER INDEX | failures FOLDER | report FOLDER."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from screw_dynamics.utils.atomic_write import atomic_write

from .results import REPORT, load


def main(arguments: list[str] | None = None) -> int:
    """Run a case again, list the failed cases, or write the report again. Return the exit code.

    For a replay it is 0 if the case passes, 1 if it fails, and 3 if the motion differs bitwise from that of the
    campaign."""
    parser = argparse.ArgumentParser(prog="python -m screw_dynamics.recordings.campaigns", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    again = commands.add_parser("replay", help="run a case again")
    failed = commands.add_parser("failures", help="list the cases that failed")
    report = commands.add_parser("report", help="write the report anew")
    for command in again, failed, report:
        command.add_argument("folder", type=Path)
    again.add_argument("index", type=int)
    again.add_argument("--motion", type=Path, metavar="FILE.npz", help="write the arrays of the motion to this file")
    options = parser.parse_args(arguments)
    try:
        campaign = load(options.folder)
        if options.command == "replay":
            return _replay(campaign, options.index, options.motion)
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    if options.command == "failures":
        print("\n".join([*(str(campaign.cases[k]) for k in campaign.failures), repr(campaign)]))
    else:
        campaign.write()
        print(campaign.folder / REPORT)
    return 0


def _replay(campaign, index, path):
    """Print the outcome of a case, and write its motion."""
    found = campaign.replay(index)
    print(found.case)
    if found.case.trace:
        print(found.case.trace, end="")
    print({True: "the same bits as in the campaign", None: "the bits of the campaign's motion are not known",
           False: "NOT the bits of the campaign: the scenario depends on more than its parameters and rng, or has "
                  "changed"}[found.same_bits])
    if path is not None and found.motion is not None:
        with atomic_write(path) as new, new.open("wb") as file:        # NumPy would add an extension to a path
            np.savez(file, **_arrays(found.motion))
        print(path)
    return 3 if found.same_bits is False else 0 if found.case.passed else 1


def _arrays(motion):
    """Return the arrays of a motion by name."""
    if isinstance(motion, dict):
        return {str(name): x for name, x in motion.items()}
    if isinstance(motion, tuple):
        names = getattr(motion, "_fields", ("t", "q", "qd") if len(motion) == 3 else None)
        return dict(zip(names or (f"array_{k}" for k in range(len(motion))), motion, strict=True))
    if isinstance(motion, np.ndarray):
        return {"motion": motion}
    raise ValueError(f"the motion is a {type(motion).__name__}, which cannot be converted to arrays")


if __name__ == "__main__":
    sys.exit(main())
