"""Identification from any number of recordings: what each says is a few small matrices, and matrices add up."""
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics import checks
from screw_dynamics.analysis.identification.base_fit import base_factors, base_fit, of_equations
from screw_dynamics.analysis.identification.equations import WINDOW, checked, equations
from screw_dynamics.analysis.identification.evidence import FAN, Evidence, solved, total, triangle
from screw_dynamics.analysis.identification.falling_friction import shares
from screw_dynamics.analysis.identification.fit import Identification, checked_level, concluded
from screw_dynamics.analysis.identification.unknowns import Unknowns, unknowns
from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.robot import Robot

from .each_item import each, local_client
from .episode import Episode, episodes
from .evidence_tables import packed, unpacked
from .motion import motion
from .one_item import described
from .recording import Recording

BINS = 24               # of consecutive recordings: what drifts is compared from one to the next


@dataclass(frozen=True, eq=False, repr=False)
class LogsIdentification:
    """Parameters that a robot's recordings give together, and how they agree.

    Parameters
    ----------
    found : Identification
        Result of all recordings. ``found.robot`` has the parameters.
    rows : tuple of dict
        One row per recording, in order: item, error, start (ns), samples, equations, notes, and for each velocity, in N
        m or N, root mean squares of what is not explained: residual.<velocity> by the parameters found,
        left_out.<velocity> by the base parameters of all other recordings.
    drift : tuple of dict
        One row per bin of recordings that follow each other in time: bin, start, end (ns), recordings, and for each
        base parameter k value.<k>, deviation.<k>, infinite where these recordings do not show it, and change.<k>, its
        difference from the value of all recordings, in such deviations.
    """

    found: Identification
    rows: tuple[dict[str, Any], ...]
    drift: tuple[dict[str, Any], ...]

    @property
    def robot(self) -> Robot:
        """The robot that was found."""
        return self.found.robot

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of recordings that are not in it, each with its error."""
        return [row for row in self.rows if row["error"] is not None]

    def __repr__(self) -> str:
        return f"<LogsIdentification of {len(self.rows)} recordings, {len(self.failed)} failed: {self.robot}>"

    def __str__(self) -> str:
        lost = f"; {len(self.failed)} more could not be used" if self.failed else ""
        return f"{len(self.rows) - len(self.failed)} recordings{lost}\n{self.found}"

    def plot(self, path: Any = None) -> Any:
        """Plot the drift: base parameters that changed most over time.

        Parameters
        ----------
        path : str, path or file, optional
            File to write. Its ending gives the format: PNG, PDF or SVG.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. It requires matplotlib, of the extra [plot].
        """
        from .figures import drift_figure
        return drift_figure(self, path)


def identify(recordings: Sequence[Recording | str], robot: Robot, out: Any = None, friction: str = "estimate",
             armature: bool = False, links: Collection[str] | None = None, window: float = WINDOW, level: float = 0.95,
             forces: Sequence[Element] = (), springs: Sequence[Element] = (), velocities: bool = False,
             read: Mapping[str, Any] | None = None, scheduler: Any = None, workers: int | None = None,
             timeout: float | None = None, progress: bool = True) -> LogsIdentification:
    """Identify a robot from many recordings.

    Parameters
    ----------
    recordings : sequence of Recording, or of str
        Recordings, or their addresses, which workers read.
    robot : Robot
        Prior robot, which the fit starts from.
    out : str or path, optional
        Folder for what each recording gives. It is required with addresses.
    friction : {"estimate", "stribeck", "model", "none"}, optional
        Treatment of friction. This and the next six are as of ``identify`` of one recording, whose fit this is.
    armature : bool, optional
        Estimate armature too.
    links : collection of str, optional
        Links to estimate.
    window : float, optional
        Time in s over which positions and efforts are smoothed.
    level : float, optional
        Level of the confidence intervals.
    forces : sequence of Element, optional
        Elements of screw_dynamics.forces that are known to act.
    springs : sequence of str or Element, optional
        Springs of which the stiffness is estimated.
    velocities : bool, optional
        Use the recorded velocities too, not positions alone.
    read : dict of str to object, optional
        Options of ``logs.read``.
    scheduler : str or distributed.Client, optional
        Scheduler of Dask. This and the next three are as of ``logs.each``.
    workers : int, optional
        Number of processes of this machine.
    timeout : float, optional
        Longest time for a recording in s.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    LogsIdentification
        Parameters of all recordings together. A recording that cannot be used is a row with its error.

    Raises
    ------
    ValueError
        If no recording can be used, or all together show too little. Also for addresses without ``out``, and for
        recordings and addresses at once.

    Notes
    -----
    The sum of the recordings is taken in their order, not the workers': the result has the same bits with any number of
    workers, on machines of one kind.
    """
    checked_level(level)
    what = unknowns(robot, friction, armature, links, springs)
    settings = {"what": what, "window": checks.positive("window", window), "forces": tuple(forces),
                "velocities": checks.flag("velocities", velocities)}
    if not len(recordings):
        raise ValueError("recordings: there is none")
    if all(isinstance(x, Recording) for x in recordings):
        return _identified(recordings, what, settings, level, _in_turn)
    if any(isinstance(x, Recording) for x in recordings):
        raise ValueError("recordings: all must be Recordings, or all addresses")
    if out is None:
        raise ValueError("out: with addresses, the folder for the results of each recording must be given")
    settings["read"] = dict(read or {})
    with nullcontext(scheduler) if scheduler is not None else local_client(workers) as engine:
        run = _Engine(Path(out), scheduler=engine, timeout=timeout, progress=progress)
        return _identified(episodes(recordings), what, settings, level, run)


def _identified(items: Sequence, what: Unknowns, settings: Mapping[str, Any], level: float, run: Callable
                ) -> LogsIdentification:
    """Evidence of each, sums by bins, one fit, and what it leaves of each."""
    rows, sources = run(evidence_of, items, settings, "episodes")
    used = sorted((k for k, row in enumerate(rows) if row["error"] is None), key=lambda k: (rows[k]["start"], k))
    if not used:
        raise ValueError(f"none of {len(rows)} recordings can be used; the first: {rows[0]['error']}")
    parts = np.array_split(used, min(BINS, len(used)))
    bins = [Bin(b, tuple(sources[k] for k in part)) for b, part in enumerate(parts)]
    in_bins = _all(run(sum_of, bins, {}, "bins"))
    together = total(in_bins)
    found, fit = concluded(what, together, level, _notes([rows[k] for k in used])), base_fit(together, what)
    triangles = [_triangle(x, what, fit.weight, fit.velocities) for x in in_bins]
    compared, _ = run(explained, bins, {"what": what, "parameters": found.parameters, "weight": fit.weight,
                                        "velocities": fit.velocities, "falling": found.falling,
                                        "others": _without_each(triangles)}, "compared")
    for part, row in zip(parts, compared, strict=True):
        for name in ("residual", "left_out"):
            for k, values in zip(part, row[name], strict=True):
                joints = zip(velocity_names(what.robot.model), values, strict=True)
                rows[k] |= {f"{name}.{joint}": x for joint, x in joints}
    drift = [_bin_row(b, [rows[k] for k in part], own, what, fit)
             for b, (part, own) in enumerate(zip(parts, in_bins, strict=True))]
    return LogsIdentification(found, tuple(rows), tuple(drift))


def _notes(rows):
    """Those of one recording; of more, how many have some, and one of them: all are in their rows."""
    noted = [row for row in rows if row["notes"]]
    if len(rows) > 1 and noted:
        return [f"{len(noted)} of {len(rows)} recordings have notes; {noted[0]['item']}: {noted[0]['notes'][0]}"]
    return rows[0]["notes"]


class Bin(NamedTuple):
    """Recordings that follow each other: what they say, tables or their files."""

    number: int
    sources: tuple[Any, ...]

    def __str__(self) -> str:
        return f"bin {self.number}"


def evidence_of(recording: Recording | Episode, what: Unknowns, window: float, forces: Sequence[Element],
                velocities: bool = False, read: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
    """Return the row of a recording, or of one that is read first, and its evidence as a table."""
    if isinstance(recording, Episode):
        from .reading import read as read_recording
        recording = read_recording(recording.address, **read or {})
    at = motion(recording, what.robot)
    given = {"t": at.t, "q": at.q, "tau": at.tau}
    if velocities:
        if (lost := ~np.isfinite(at.qd).all(axis=1)).any():
            raise ValueError(f"velocities were not recorded in {lost.sum()} of {len(lost)} rows with positions")
        given["qd"] = at.qd
    rows, notes = equations(what.robot, checked(what.robot, given), what.rubs, window, [*forces, *what.known],
                            at.breaks, what.velocities, what.springs)
    found = of_equations(rows, what, len(at.t))
    if not found.counts.sum():
        raise ValueError("no equation: efforts were not measured, or joints with friction were at rest")
    return {"start": recording.start, "samples": len(at.t), "equations": int(found.counts.sum()),
            "notes": notes}, packed(found)


def sum_of(bin: Bin) -> tuple[dict[str, Any], Any]:
    """Return the evidence of a bin, of which FAN recordings are in memory at a time: the tree's lowest level."""
    groups = [bin.sources[k:k + FAN] for k in range(0, len(bin.sources), FAN)]
    return {}, packed(total([total([unpacked(source) for source in group]) for group in groups]))


def explained(bin: Bin, what: Unknowns, parameters: np.ndarray, weight: np.ndarray, velocities: np.ndarray | None,
              falling: np.ndarray, others: Sequence[np.ndarray]) -> dict[str, Any]:
    """Root mean squares (recordings, n) of what the parameters leave of each recording of a bin, and of what the base
    parameters leave that all other recordings give: those of the bin, and the triangle of the other bins."""
    residual, left_out = [], []
    own = None if velocities is None else shares(falling)
    triangles = [_triangle(unpacked(source), what, weight, velocities) for source in bin.sources]
    for source, without in zip(bin.sources, _without_each([*triangles, others[bin.number]]), strict=False):
        x = unpacked(source)
        (A, d), counts = base_factors(x, what, velocities), np.maximum(x.counts, 1)
        residual.append(np.sqrt(x.squares(parameters, own) / counts))
        left_out.append(np.sqrt(np.sum((d - A @ solved(without)[0]) ** 2, axis=1) / counts))
    return {"residual": np.array(residual).tolist(), "left_out": np.array(left_out).tolist()}


def _triangle(found: Evidence, what: Unknowns, weight: np.ndarray, velocities: np.ndarray | None) -> np.ndarray:
    """Return the triangle of the weighted equations in base parameters, and friction that falls."""
    return triangle(*base_factors(found, what, velocities), weight)


def _without_each(triangles: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the triangle of all but one, for each; nothing is taken off, which would lose digits."""
    nothing = np.zeros((0, triangles[0].shape[1]))
    before, after = [nothing], [nothing]
    for R, of_end in zip(triangles[:-1], triangles[:0:-1], strict=True):
        before.append(np.linalg.qr(np.vstack([before[-1], R]), mode="r"))
        after.append(np.linalg.qr(np.vstack([after[-1], of_end]), mode="r"))
    return [np.vstack([a, b]) if len(a) + len(b) else np.zeros_like(triangles[0])
            for a, b in zip(before, after[::-1], strict=True)]


def _bin_row(number, rows, found, what, fit):
    """Return the drift of a bin: its own base parameters, by its own noise, and how far they are from those of all."""
    try:
        one = base_fit(found, what)
        own, deviations = one.x, one.deviations
    except ValueError:                          # too few equations for noise of its own
        k = len(what.base)
        own, deviations = (x[:k] for x in solved(_triangle(found, what, fit.weight, fit.velocities)))
    row = {"bin": number, "start": rows[0]["start"], "end": rows[-1]["start"], "recordings": len(rows)}
    for name, values in (("value", own), ("deviation", deviations), ("change", (own - fit.x) / deviations)):
        row |= {f"{name}.{k}": float(value) for k, value in enumerate(values)}
    return row


def _in_turn(function: Callable, items: Sequence, options: Mapping[str, Any], folder: str):
    """Rows and tables, in this process; what fails is a row."""
    rows, tables = [], []
    for item in items:
        row, table = {"item": getattr(item, "source", "") or described(item), "error": None, "trace": None}, None
        try:
            found = function(item, **options)
            own, table = found if isinstance(found, tuple) else (found, None)
            row |= own
        except Exception as error:  # noqa: BLE001  whatever a recording brings
            row |= {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        rows.append(row)
        tables.append(table)
    return rows, tables


class _Engine:
    """Rows, and files of tables, by `each`."""

    def __init__(self, out: Path, **options: Any):
        self.out, self.options = out, options

    def __call__(self, function: Callable, items: Sequence, options: Mapping[str, Any], folder: str):
        """Return rows and files of tables, as _in_turn does. Only episodes have the time limit: a sum over many may
        take longer."""
        limit = {} if folder == "episodes" else {"timeout": None}
        rows = each(function, items, self.out / folder, options, **self.options | limit)
        return rows, [row["table"] and str((self.out / folder / row["table"]).absolute()) for row in rows]


def _all(found) -> list[Evidence]:
    """Return the evidence of rows that must not fail."""
    rows, sources = found
    for row in rows:
        if row["error"] is not None:
            raise ValueError(f"{row['item']}: {row['error']}")
    return [unpacked(source) for source in sources]
