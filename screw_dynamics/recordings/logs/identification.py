"""Identification from any number of recordings. The evidence of each is a few small matrices, which are summed."""
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.analysis.identification.base_fit import base_factors, base_fit, of_equations
from screw_dynamics.analysis.identification.equations import WINDOW, checked, equations
from screw_dynamics.analysis.identification.evidence import FAN, Evidence, solved, total, triangle
from screw_dynamics.analysis.identification.falling_friction import shares
from screw_dynamics.analysis.identification.fit import Identification, checked_level, concluded
from screw_dynamics.analysis.identification.unknowns import Unknowns, unknowns
from screw_dynamics.forces import Element
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .each_item import each, local_client
from .episode import Episode, episodes
from .evidence_tables import packed, unpacked
from .motion import motion
from .one_item import described
from .recording import Recording

BINS = 24               # number of bins of consecutive recordings, between which drift is compared


@dataclass(frozen=True, eq=False, repr=False)
class LogsIdentification:
    """Parameters identified from all recordings of a robot, and the agreement of the recordings.

    Parameters
    ----------
    found : Identification
        Result of all recordings. ``found.robot`` has the parameters.
    rows : tuple of dict
        One row per recording, in order: item, error, start (ns), samples, equations, notes, and root mean square
        residuals per velocity in N m or N: residual.<velocity> with the identified parameters, and
        left_out.<velocity> with the base parameters of all other recordings.
    drift : tuple of dict
        One row per bin of consecutive recordings: bin, start, end (ns), recordings. For each base parameter k:
        value.<k>; deviation.<k>, infinite if the bin does not determine the parameter; and change.<k>, the difference
        from the value of all recordings in units of the deviation.
    """

    found: Identification
    rows: tuple[dict[str, Any], ...]
    drift: tuple[dict[str, Any], ...]

    @property
    def robot(self) -> Robot:
        """The robot with the identified parameters."""
        return self.found.robot

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of recordings that could not be used, each with its error."""
        return [row for row in self.rows if row["error"] is not None]

    def __repr__(self) -> str:
        return f"<LogsIdentification of {len(self.rows)} recordings, {len(self.failed)} failed: {self.robot}>"

    def __str__(self) -> str:
        lost = f"; {len(self.failed)} more could not be used" if self.failed else ""
        return f"{len(self.rows) - len(self.failed)} recordings{lost}\n{self.found}"

    def plot(self, path: Any = None) -> Any:
        """Plot the drift of the base parameters that changed most over time.

        Parameters
        ----------
        path : str, path or file, optional
            File to write. Its suffix selects the format: PNG, PDF or SVG.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. It requires matplotlib, in the extra [plot].
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
        Recordings, or their addresses, which the workers read.
    robot : Robot
        Prior robot, the initial value of the fit.
    out : str or path, optional
        Folder for the results of each recording. Required with addresses.
    friction : {"estimate", "stribeck", "model", "none"}, optional
        Treatment of friction. This and the next six parameters are those of ``identify`` for one recording.
    armature : bool, optional
        Estimate armature too.
    links : collection of str, optional
        Links to estimate.
    window : float, optional
        Smoothing window of positions and efforts in s.
    level : float, optional
        Level of the confidence intervals.
    forces : sequence of Element, optional
        Known external forces: elements of screw_dynamics.forces.
    springs : sequence of str or Element, optional
        Springs whose stiffness is estimated.
    velocities : bool, optional
        Use the recorded velocities in addition to the positions.
    read : dict of str to object, optional
        Options of ``logs.read``.
    scheduler : str or distributed.Client, optional
        Dask scheduler. This and the next three parameters are those of ``logs.each``.
    workers : int, optional
        Number of local processes.
    timeout : float, optional
        Longest time per recording in s.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    LogsIdentification
        Parameters of all recordings together. A recording that cannot be used gives a row with its error.

    Raises
    ------
    ValueError
        If no recording can be used, if the recordings together do not determine the parameters, if addresses are given
        without ``out``, or if recordings and addresses are mixed.

    Notes
    -----
    Recordings are summed in their order, independent of the workers: the result is bitwise the same with any number of
    workers, on machines of the same kind.
    """
    checked_level(level)
    what = unknowns(robot, friction, armature, links, springs)
    settings = {"what": what, "window": checks.positive("window", window), "forces": tuple(forces),
                "velocities": checks.flag("velocities", velocities)}
    if not len(recordings):
        raise ValueError("recordings: at least one is required")
    if all(isinstance(x, Recording) for x in recordings):
        return _identified(recordings, what, settings, level, _in_turn)
    if any(isinstance(x, Recording) for x in recordings):
        raise ValueError("recordings: all must be Recordings, or all addresses")
    if out is None:
        raise ValueError("out must be given with addresses: the folder for the results of each recording")
    settings["read"] = dict(read or {})
    with nullcontext(scheduler) if scheduler is not None else local_client(workers) as engine:
        run = _Engine(Path(out), scheduler=engine, timeout=timeout, progress=progress)
        return _identified(episodes(recordings), what, settings, level, run)


def _identified(items: Sequence, what: Unknowns, settings: Mapping[str, Any], level: float, run: Callable
                ) -> LogsIdentification:
    """Compute the evidence of each item, sum it by bins, fit once, and compute the residuals of each item."""
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
    """Return the notes of a single recording; of several, the number with notes and one example."""
    noted = [row for row in rows if row["notes"]]
    if len(rows) > 1 and noted:
        return [f"{len(noted)} of {len(rows)} recordings have notes; {noted[0]['item']}: {noted[0]['notes'][0]}"]
    return rows[0]["notes"]


class Bin(NamedTuple):
    """A bin of consecutive recordings with their evidence: tables or files of tables."""

    number: int
    sources: tuple[Any, ...]

    def __str__(self) -> str:
        return f"bin {self.number}"


def evidence_of(recording: Recording | Episode, what: Unknowns, window: float, forces: Sequence[Element],
                velocities: bool = False, read: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
    """Return the row of a recording and its evidence as a table. An Episode is read first."""
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
        raise ValueError("no equations: efforts were not measured, or joints with friction were at rest")
    return {"start": recording.start, "samples": len(at.t), "equations": int(found.counts.sum()),
            "notes": notes}, packed(found)


def sum_of(bin: Bin) -> tuple[dict[str, Any], Any]:
    """Return the evidence of a bin, with FAN recordings in memory at a time: the lowest level of the summation tree."""
    groups = [bin.sources[k:k + FAN] for k in range(0, len(bin.sources), FAN)]
    return {}, packed(total([total([unpacked(source) for source in group]) for group in groups]))


def explained(bin: Bin, what: Unknowns, parameters: np.ndarray, weight: np.ndarray, velocities: np.ndarray | None,
              falling: np.ndarray, others: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return root mean square residuals (recordings, n) of each recording in a bin, for two sets of parameters.

    "residual": the identified parameters. "left_out": the base parameters of all other recordings, from the others in
    the bin and the triangle of the other bins."""
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
    """Return the triangular factor of the weighted equations in base parameters and falling (Stribeck) friction."""
    return triangle(*base_factors(found, what, velocities), weight)


def _without_each(triangles: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return, for each triangular factor, that of all others; without subtraction, which would lose digits."""
    nothing = np.zeros((0, triangles[0].shape[1]))
    before, after = [nothing], [nothing]
    for R, of_end in zip(triangles[:-1], triangles[:0:-1], strict=True):
        before.append(np.linalg.qr(np.vstack([before[-1], R]), mode="r"))
        after.append(np.linalg.qr(np.vstack([after[-1], of_end]), mode="r"))
    return [np.vstack([a, b]) if len(a) + len(b) else np.zeros_like(triangles[0])
            for a, b in zip(before, after[::-1], strict=True)]


def _bin_row(number, rows, found, what, fit):
    """Return the drift of a bin: base parameters and noise of the bin, and the change from those of all bins."""
    try:
        one = base_fit(found, what)
        own, deviations = one.x, one.deviations
    except ValueError:                          # too few equations to estimate its own noise
        k = len(what.base)
        own, deviations = (x[:k] for x in solved(_triangle(found, what, fit.weight, fit.velocities)))
    row = {"bin": number, "start": rows[0]["start"], "end": rows[-1]["start"], "recordings": len(rows)}
    for name, values in (("value", own), ("deviation", deviations), ("change", (own - fit.x) / deviations)):
        row |= {f"{name}.{k}": float(value) for k, value in enumerate(values)}
    return row


def _in_turn(function: Callable, items: Sequence, options: Mapping[str, Any], folder: str):
    """Return rows and tables, computed one by one in this process. A failure gives a row with the error."""
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
    """Computation of rows and table files with `each`."""

    def __init__(self, out: Path, **options: Any):
        self.out, self.options = out, options

    def __call__(self, function: Callable, items: Sequence, options: Mapping[str, Any], folder: str):
        """Return rows and table files, as _in_turn does.

        Only episodes have the time limit: a sum of many may take longer."""
        limit = {} if folder == "episodes" else {"timeout": None}
        rows = each(function, items, self.out / folder, options, **self.options | limit)
        return rows, [row["table"] and str((self.out / folder / row["table"]).absolute()) for row in rows]


def _all(found) -> list[Evidence]:
    """Return the evidence of all rows. Raises ValueError if a row failed."""
    rows, sources = found
    for row in rows:
        if row["error"] is not None:
            raise ValueError(f"{row['item']}: {row['error']}")
    return [unpacked(source) for source in sources]
