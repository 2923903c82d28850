"""Results of a campaign: its cases as a table, its failures, and the commands to run them again."""
from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.utils import checks
from screw_dynamics.utils.atomic_write import atomic_write

from .cases import Case, Replay, kept_case
from .plan import Plan, kept

TABLE, REPORT = "cases.parquet", "report.html"
INTERVAL = 0.95


class Campaign:
    """Cases of a campaign, in their order.

    Parameters
    ----------
    plan : Plan
        Scenario, parameters, properties and design of the campaign.
    found : sequence of Case
        Outcomes of the cases. The values of their parameters are computed from the plan.
    folder : Path, optional
        Folder of the campaign on disk.

    Notes
    -----
    Attributes are ``cases``; ``table`` {column: array} with a row per case; ``failures``, the indices of the failed
    cases; and ``folder``, which may be None.
    """

    def __init__(self, plan: Plan, found: Sequence[Case], folder: Path | None = None):
        self.plan, self.folder = plan, folder
        self.cases = [case._replace(parameters=plan.values(case.index)) for case in found]

    def __len__(self):
        return len(self.cases)

    @property
    def failures(self) -> list[int]:
        """The indices of the cases in which a property failed or an error was raised."""
        return [case.index for case in self.cases if not case.passed]

    @property
    def table(self) -> dict[str, np.ndarray]:
        """The table of columns (cases,): index, the parameters, the margin of each property (NaN if it returns a bool),
        its verdict <property>_holds, passed, error, digest and seconds."""
        cases = self.cases
        columns = {"index": np.array([case.index for case in cases])}
        for parameter in self.plan.parameters:
            columns[parameter.name] = _column([case.parameters[parameter.name] for case in cases])
        for name in self.plan.properties:
            columns[name] = np.array([case.margins[name] for case in cases])
            columns[f"{name}_holds"] = np.array([case.holds[name] for case in cases])
        columns["passed"] = np.array([case.passed for case in cases])
        columns["error"], columns["digest"] = (_column([getattr(case, key) for case in cases])
                                               for key in ("error", "digest"))
        columns["seconds"] = np.array([case.seconds for case in cases])
        return columns

    def probability_of_failure(self) -> tuple[float, float, float]:
        """Return the share of failed cases, with its 95 % confidence interval.

        Returns
        -------
        share : float
            Number of failures divided by number of cases.
        low, high : float
            Ends of the interval by Clopper and Pearson.

        Notes
        -----
        The interval is valid for the design "random". With "latin_hypercube" and "sobol" the share is usually closer.
        For a grid it is not a probability.
        """
        from scipy.stats import binomtest
        failed = len(self.failures)
        interval = binomtest(failed, len(self)).proportion_ci(INTERVAL)
        return failed / len(self), float(interval.low), float(interval.high)

    def replay(self, index: int) -> Replay:
        """Run a case again.

        Parameters
        ----------
        index : int
            Number of the case.

        Returns
        -------
        Replay
            Motion and outcome of this run, and a flag for a bitwise equal motion.
        """
        motion, case = self.plan.run(index)
        before = self.cases[index]
        same = before.digest == case.digest if before.digest else None
        if before.trace and not before.digest:          # of an error, not of a worker that died
            same = before.error == case.error
        return Replay(motion, case, same)

    def command(self, index: int) -> str:
        """Return the command to run a case again.

        Parameters
        ----------
        index : int
            Number of the case.

        Returns
        -------
        str
            Shell command line.

        Raises
        ------
        ValueError
            If the campaign has no folder.
        """
        if self.folder is None:
            raise ValueError("a campaign without a folder (out=None) has no files: replay(index) runs a case again")
        index = checks.whole("index", index, 0)
        return f"python -m screw_dynamics.recordings.campaigns replay {shlex.quote(str(self.folder))} {index}"

    def write(self, folder: str | os.PathLike | None = None) -> None:
        """Write the table cases.parquet and the report report.html.

        Parameters
        ----------
        folder : str or path, optional
            Folder for both, which is created. By default the campaign's own.

        Raises
        ------
        ValueError
            If no folder is given, and the campaign has none.

        Notes
        -----
        The table requires the extra [logs]. The report has figures if matplotlib is installed.
        """
        from .report import write_report
        target = Path(folder) if folder is not None else self.folder
        if target is None:
            raise ValueError("folder must be given: this campaign has none")
        target.mkdir(parents=True, exist_ok=True)
        write_parquet(self, target / TABLE)
        write_report(self, target / REPORT)

    def __repr__(self):
        failed = self.failures
        listed = ", ".join(map(str, failed[:10])) + (", ..." if len(failed) > 10 else "")
        return f"<Campaign of {len(self)} cases, {len(failed)} failed{': ' if failed else ''}{listed}>"


def load(folder: str | os.PathLike) -> Campaign:
    """Load a campaign from a folder.

    Parameters
    ----------
    folder : str or path
        Folder of the campaign. It contains code, a pickled plan: load only trusted folders.

    Returns
    -------
    Campaign
        All cases, in their order.

    Raises
    ------
    ValueError
        If the campaign is not complete.
    ImportError
        If pyarrow, of the extra [logs], is not installed.
    """
    path = Path(folder).absolute()
    plan = kept(path)
    if not (path / TABLE).exists():
        raise ValueError(f"{path} contains an unfinished campaign, without file {TABLE}: repeat the call that started "
                         "it, which continues")
    if find_spec("pyarrow") is None:
        raise ImportError(f"{TABLE} requires pyarrow: pip install screw_dynamics[logs]")
    import pyarrow.parquet as pq
    columns = pq.read_table(path / TABLE).to_pydict()
    names = list(plan.properties)
    margins, holds = (zip(*(columns[name + kind] for name in names), strict=True) for kind in ("", "_holds"))
    others = (columns[key] for key in ("error", "trace", "digest", "seconds"))
    return Campaign(plan, [kept_case(index, names, *row) for index, *row in zip(
        columns["index"], margins, holds, *others, strict=True)], path)


def write_parquet(campaign: Campaign, path: Path) -> None:
    """Write the table of a campaign, with a description of its plan as the file's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    columns = {name: column.tolist() for name, column in campaign.table.items()}
    columns["trace"] = [case.trace for case in campaign.cases]
    table = pa.table(columns)
    metadata = {key.encode(): text.encode() for key, text in campaign.plan.in_words().items()}
    with atomic_write(path) as new:
        pq.write_table(table.replace_schema_metadata(metadata), new)


def _column(values: Sequence[Any]) -> np.ndarray:
    """Return values as an array of numbers, bools or text."""
    if all(isinstance(x, (bool, np.bool_)) for x in values):
        return np.array(values, dtype=bool)
    if all(isinstance(x, (int, float, np.number)) and not isinstance(x, bool) for x in values):
        found = np.array(values)
        if found.dtype.kind in "fiu":           # neither complex nor of more than 64 bits, which Parquet does not hold
            return found
    return np.array([x if isinstance(x, str) else checks.described(x) for x in values], dtype=object)
