"""Campaigns: all cases of a plan, in this process or on the workers of a cluster."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from itertools import starmap
from pathlib import Path
from typing import Any

from screw_dynamics.utils import checks

from .cases import Case, NoVerdict, kept_case
from .designs import DESIGNS
from .parameters import parameters_of
from .plan import Plan, kept_once
from .results import Campaign

NEEDED = "cloudpickle", "distributed", "pyarrow"
PARTS = "parts"         # subfolder of the workers' results


def campaign(scenario: Callable, parameters: Mapping[str, Any], properties: Mapping[str, Callable] | Iterable[Callable],
             count: int = 128, design: str = "latin_hypercube", seed: int = 0, *, levels: int = 5,
             out: str | os.PathLike | None = None, scheduler: Any = None, workers: int | None = None,
             timeout: float | None = None, together: int = 1, progress: bool = False) -> Campaign:
    """Run a scenario in many cases, and find the cases in which a property fails.

    Parameters
    ----------
    scenario : callable
        Function ``scenario(parameters, rng)`` that returns a motion: the result of ``rollout``, a recording of a test,
        arrays, or a dict of them. ``parameters`` has the parameters of a case as attributes, ``rng`` is the case's own
        numpy.random.Generator. The motion must depend on these two only.
    parameters : dict of str to tuple, list, range or frozen distribution
        Varied parameters by name: a range ``(low, high)``, a list or range of choices, or a frozen scipy.stats
        distribution.
    properties : dict of str to callable, or iterable of callable
        Functions of the motion, or of motion and parameters, by name. Each returns True or False, or a margin, which
        fails if it is negative or NaN. The least entry of an array counts.
    count : int, optional
        Number of cases. A grid ignores it.
    design : {"latin_hypercube", "sobol", "random", "grid"}, optional
        Design of the cases. A grid has all combinations of ``levels`` of each parameter, and of all choices.
    seed : int, optional
        Seed of the campaign. Equal seeds give equal campaigns.
    levels : int, optional
        Levels of each range or distribution in a grid.
    out : str or path, optional
        Folder for a Parquet table, a report with figures, and data for workers; it requires the extra [logs]. Without
        one the cases run sequentially in this process.
    scheduler : str or distributed.Client, optional
        Dask scheduler for the cases, as in ``logs.each``.
    workers : int, optional
        Number of local processes for the cases, if there is no scheduler.
    timeout : float, optional
        Largest duration of a task, in s.
    together : int, optional
        Cases per task.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    Campaign
        All cases, in their order.

    Raises
    ------
    ValueError
        If an argument is invalid, which is named, or the folder has another campaign.
    RuntimeError
        If this package failed, or workers cannot load the scenario.
    ImportError
        If a folder is given, and the extra [logs] is not installed.
    OSError
        If the disk is full for the table or the report. All cases are complete and saved then.

    Notes
    -----
    With a folder, cases are run by ``logs.each``. When the same call is repeated, completed cases are not run
    again. An error is a failure of its case.
    """
    plan = Plan(scenario, parameters_of(parameters), properties, checks.one_of("design", design, DESIGNS), count,
                seed, levels)
    together = checks.whole("together", together, 1)
    if out is None:
        if any(x is not None for x in (scheduler, workers, timeout)):
            raise ValueError("scheduler, workers and timeout are for campaigns with a folder: out must not be None")
        return Campaign(plan, [plan.run(index)[1] for index in range(plan.count)])
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ImportError(f"a campaign in a folder requires {', '.join(missing)}: pip install screw_dynamics[logs]")
    folder = Path(out).absolute()
    workers = None if workers is None else checks.whole("workers", workers, 1)
    timeout = None if timeout is None else checks.positive("timeout", timeout)
    from screw_dynamics.recordings.logs.each_item import check_where, each
    check_where(scheduler, workers)
    plan.keep(folder)
    how = {"scheduler": scheduler, "workers": workers, "timeout": timeout, "progress": progress}
    found = Campaign(plan, _on_workers(each, plan, folder, together, how), folder)
    try:
        found.write()
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}: all {plan.count} cases are done and kept; free disk space, and "
                                   "call again", error.filename) from error
    return found


def _on_workers(each, plan, folder, together, how):
    """Run the cases by each(), and return them."""
    items = [(first, min(first + together, plan.count)) for first in range(0, plan.count, together)]
    rows = each(run_some, items, folder / PARTS, {"folder": str(folder), "identity": str(plan.in_words())}, **how)
    found = []
    for (first, last), row in zip(items, rows, strict=True):
        if (row.get("error") or "").startswith(NoVerdict.__name__):
            raise NoVerdict(f"{row['error']}\n{row['trace']}")
        found += (starmap(kept_case, row["cases"]) if row.get("error") is None else
                  (_lost(plan, index, row["error"], first, last) for index in range(first, last)))
    return found


def run_some(item: tuple[int, int], folder: str, identity: str) -> dict[str, Any]:
    """Run the cases first, ..., last - 1 of the campaign in a folder, and return a row for `each`."""
    try:
        plan = kept_once(folder, identity)
    except Exception as error:
        raise NoVerdict(f"{folder}: the scenario cannot be loaded: {type(error).__name__}: {error}") from error
    found = [plan.run(index)[1] for index in range(*item)]
    return {"cases": [_packed(case) for case in found], "failed": sum(not case.passed for case in found)}


def _packed(case):
    """Return a case as a list that JSON represents exactly. Values of parameters, of any type, are computed from the
    plan."""
    return [case.index, list(case.margins), list(case.margins.values()), [case.holds[name] for name in case.margins],
            case.error, case.trace, case.digest, case.seconds]


def _lost(plan, index, error, first, last):
    """Return the case of a worker that died or timed out, with the others of its task."""
    among = f" (one of the cases {first} to {last - 1} of its task)" if last - first > 1 else ""
    names = plan.properties
    return Case(index, {}, dict.fromkeys(names, float("nan")), dict.fromkeys(names, False), f"{error}{among}", "", "",
                float("nan"))
