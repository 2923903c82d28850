"""python -m fault_injection faults [name...] | soak [--minutes 10]: from the repository's root, as `make` does."""

import argparse
import sys
import tempfile
from pathlib import Path

import rclpy
from rclpy.signals import SignalHandlerOptions

from screw_dynamics.ros.signals import interrupted_once

from . import soak
from .every_fault import FAULTS
from .rig import Rig
from .run import happen, ready, row


def faults(names):
    """All faults; the number of faults that were not survived."""
    chosen = [fault for fault in FAULTS if not names or any(name in fault.name for name in names)]
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder))
        try:
            ready(rig)
            for fault in chosen:
                outcomes.append(happen(rig, fault))
                print(row(outcomes[-1]), flush=True)
                if rig.alive():
                    print("\n".join(log.read_text()[-3000:] for logs in rig.logs.values() for log in logs[-1:]))
                    break
        finally:    # nodes that outlive an interrupted run would disturb the next
            ended = rig.stop()
    failed = [outcome.name for outcome in outcomes if outcome.wrong] + ended
    print(f"{len(outcomes)} faults, {len(failed)} failed" + "".join(f"\n  {name}" for name in failed))
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("faults").add_argument("names", nargs="*", help="parts of names; all without any")
    soak.arguments(commands.add_parser("soak"))
    options = parser.parse_args()
    interrupted_once()      # a second SIGINT leaves no node behind
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        return 1 if (faults(options.names) if options.command == "faults" else soak.run(options)) else 0
    except KeyboardInterrupt:
        return 130
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
