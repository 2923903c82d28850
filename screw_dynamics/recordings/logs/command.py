"""screw_dynamics_logs: residuals, identification, checks and conversion of any number of recordings.

  screw_dynamics_logs residuals LOGS ... --robot robot.urdf --out results

LOGS: MCAP, rosbag2, CSV, Parquet or NumPy files, folders and globs of them, and fsspec URLs. The output folder gets
summary.parquet and summary.csv, with one row per episode; report.html, with figures; provenance.json; and the results
of each episode in episodes/. An episode that fails is reported, and the others are processed. A second run processes
only the episodes that are not done. The exit code is 1 if an episode failed, and 2 if an argument is invalid."""
import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from screw_dynamics.analysis.identification.equations import WINDOW
from screw_dynamics.robot import Robot
from screw_dynamics.utils.atomic_write import write_atomically

from .episode import Episode

SUBCOMMANDS = {
    "residuals": "efforts of the model beside those measured: external efforts, friction, energy",
    "identify": "one model from all recordings, cross-validation by episode, drift over time",
    "check": "limits, saturation, lost messages, rates, jumps",
    "convert": "each recording as a Parquet file",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return _run(given)
    except (ValueError, OSError, ImportError) as error:
        print(f"{parser.prog} {given.what}: {error}", file=sys.stderr)
        return 2


def _parser():
    parser = argparse.ArgumentParser(prog="screw_dynamics_logs", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="what", required=True, metavar="{" + ",".join(SUBCOMMANDS) + "}")
    for name, text in SUBCOMMANDS.items():
        one = kinds.add_parser(name, help=text, description=text)
        one.add_argument("logs", nargs="+", metavar="LOGS", help="files, folders, globs, addresses of fsspec")
        one.add_argument("--out", required=True, type=Path, help="folder for what comes out; all workers must see it")
        one.add_argument("--topic", action="append", default=[], metavar="ROLE=NAME", help="topic of a role "
                         "(joint_states, commands, odometry, wrenches, imu, description); may be given several times")
        one.add_argument("--max-bytes", type=int, metavar="N", help="bytes that a recording may become when it is "
                         "expanded; 64 MiB by default, or 100 times its size if that is more")
        one.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler; else processes of this machine")
        one.add_argument("--workers", type=int, metavar="N", help="how many processes; one a core by default")
        one.add_argument("--timeout", type=float, default=600.0, metavar="S",
                         help="for an episode, 600 s by default; 0: none")
        one.add_argument("--quiet", action="store_true", help="no progress bar")
        if name != "convert":
            one.add_argument("--robot", metavar="URDF", help="URDF or xacro file; else what the logs describe")
            one.add_argument("--base-link", metavar="LINK", help="of a chain in it")
            one.add_argument("--tip-link", metavar="LINK", help="of a chain in it")
            one.add_argument("--floating-base", action="store_true", help="the robot's root moves, by odometry")
        if name in ("residuals", "identify"):
            one.add_argument("--window", type=float, default=WINDOW, metavar="S", help="of smoothing, 0.1 s by default")
        if name == "identify":
            one.add_argument("--friction", default="estimate", choices=("estimate", "stribeck", "model", "none"))
            one.add_argument("--armature", action="store_true", help="estimate it too")
            one.add_argument("--velocities", action="store_true", help="by those recorded too, not by positions alone")
            one.add_argument("--link", action="append", metavar="NAME", help="estimate these links alone")
    return parser


def _run(given) -> int:
    from .addresses import find
    from .episode import episodes
    if given.workers is not None and given.workers < 1:
        raise ValueError(f"--workers {given.workers} must be >= 1")
    addresses = list(dict.fromkeys(address for logs in given.logs for address in find(logs)))
    given.out.mkdir(parents=True, exist_ok=True)
    options = {"topics": dict(_topic(text) for text in given.topic) or None}
    options |= {} if given.max_bytes is None else {"max_bytes": given.max_bytes}
    engine = {"scheduler": given.scheduler, "workers": given.workers, "timeout": given.timeout or None,
              "progress": not given.quiet}
    details = {"logs": " ".join(given.logs), "command": given.what, "episodes": len(addresses)} | {
        name: value for name, value in vars(given).items()
        if name not in ("logs", "what", "out", "scheduler", "workers", "timeout", "quiet") and value}
    found = episodes(addresses)
    rows = (_identify if given.what == "identify" else _each)(given, found, options, engine, details)
    failed = [row for row in rows if row["error"] is not None]
    print(f"{len(rows) - len(failed)} of {len(rows)} episodes; {given.out / 'report.html'}")
    for row in failed[:20]:
        print(f"failed: {row['item']}: {row['error']}", file=sys.stderr)
    if len(failed) > 20:
        print(f"failed: {len(failed) - 20} more, in the report", file=sys.stderr)
    return 1 if failed else 0


def _topic(text):
    role, equals, name = text.partition("=")
    if not equals:
        raise ValueError(f"--topic {text!r} must be ROLE=NAME")
    return role, name or None


def _each(given, found: Sequence[Episode], options: dict[str, Any], engine: dict[str, Any], details: dict[str, Any]):
    """Process each episode by itself, write the results and the report, and return the rows."""
    from . import reports, work
    from .each_item import each
    folder = given.out / "episodes"
    more: dict[str, Any] = {"options": options}
    if given.what == "convert":
        items = work.conversions(found, given.out / "recordings")
        function, page_of = work.convert_to, reports.convert_page
    else:
        items, more["robot"] = found, _robot(given)
        function, page_of = work.check_of, reports.check_page
        if given.what == "residuals":
            function, page_of, more["window"] = work.residuals_of, reports.residuals_page, given.window
    rows = each(function, items, folder, more, **engine)
    page, done = _written(given, rows, details, more.get("robot"))
    if done:
        page_of(page, done, folder)
    page.write(given.out / "report.html")
    return rows


def _identify(given, found: Sequence[Episode], options: dict[str, Any], engine: dict[str, Any],
              details: dict[str, Any]):
    """Identify one model from all episodes, write it and the report, and return the rows."""
    from . import reports
    from .identification import identify
    robot = _robot(given) or _described(found, options)
    result = identify([episode.address for episode in found], robot, given.out / "episodes", given.friction,
                      given.armature, given.link, given.window, velocities=given.velocities, read=options, **engine)
    page, done = _written(given, result.rows, details, robot)
    numbers = {"names": list(result.found.names), "parameters": result.found.parameters.tolist(),
               "standard_deviations": result.found.standard_deviations.tolist(),
               "base_parameters": [{"combination": words, "value": float(value), "deviation": float(deviation)}
                                   for words, value, deviation in zip(
                                       result.found.base.combinations, result.found.base_parameters,
                                       result.found.base_deviations, strict=True)],
               "falling_friction": result.found.falling.tolist()}
    write_atomically(given.out / "parameters.json", json.dumps(numbers, indent=1))
    try:
        result.robot.to_urdf(given.out / "identified.urdf")
        unwritten = ""
    except ValueError as error:                 # a model that URDF cannot express
        (given.out / "identified.urdf").unlink(missing_ok=True)             # written by an earlier call
        unwritten = f"\nidentified.urdf is not written: {error}\n"
    write_atomically(given.out / "report.txt", f"{result}\n{unwritten}")
    reports.identify_page(page, result, done)
    page.write(given.out / "report.html")
    return result.rows


def _written(given, rows, details, robot):
    """Write the summary and the provenance; return the report's first part and the rows of the successful episodes."""
    from .provenance import provenance
    from .reports import begun
    from .summary import write_summary
    details = details | provenance(robot)
    write_atomically(given.out / "provenance.json", json.dumps(details, indent=1))
    write_summary(rows, given.out)
    return begun(f"{given.what}: {details['logs']}", rows, details)


def _robot(given):
    """Return the robot of --robot, or None: the description in each log is used."""
    if given.robot is None:
        if given.base_link or given.tip_link or given.floating_base:
            raise ValueError("--base-link, --tip-link and --floating-base require --robot")
        return None
    return Robot.from_urdf(given.robot, given.base_link, given.tip_link, floating_base=given.floating_base)


def _described(found, options):
    """Return the robot described in the first readable log."""
    from .reading import read
    from .work import described_robot
    error: Exception | None = None
    for episode in found:
        try:
            return described_robot(read(episode.address, **options))
        except Exception as reason:  # noqa: BLE001  whatever a file brings; the others may be sound
            error = error or reason
    raise ValueError(f"no readable log contains a robot description; name a URDF by --robot; the first error: {error}")


if __name__ == "__main__":
    sys.exit(main())
