"""Parallel map of a function over many items, with Dask on local processes or a cluster.

Results are stored in files, and stored results are not computed again: a call after a crash continues the previous
one. An item that fails, times out or crashes its worker gives a row with the error. Requires the extra [logs]."""
import fcntl
import inspect
import logging
import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from screw_dynamics.utils import checks

from .one_item import UNFINISHED, FolderFull, beginnings, compute, described, progress_file, started, store, stored

AHEAD = 20              # tasks per worker submitted to the scheduler ahead of time; LEAST in all, at least
LEAST = 200
CONNECTIONS = 4         # attempts to connect to a restarted scheduler
PATIENCE = "60s"        # timeout of the connection to a scheduler
# Settings of a local cluster. One task per worker at a time: only the task that crashes a worker is suspected.
# A worker short of memory is not paused, which could last forever: it continues, or its nanny ends it.
LOCAL = {"distributed.scheduler.worker-saturation": 1.0, "distributed.worker.memory.pause": False}


def each(function: Callable, items: Sequence[Any], out: str | os.PathLike, options: Mapping[str, Any] | None = None,
         scheduler: Any = None, workers: int | None = None, timeout: float | None = None,
         progress: bool = True) -> list[dict[str, Any]]:
    """Compute a function of each of many items, on local processes or a cluster.

    Parameters
    ----------
    function : callable
        Function ``function(item, **options)`` that returns a row, a dict of numbers, strings and lists; or a row and a
        table, a pyarrow.Table or {column: array (k,)}.
    items : sequence
        Items, all different.
    out : str or path
        Folder for the results; all workers must have access to it.
    options : dict of str to object, optional
        Keyword arguments of the function.
    scheduler : str or distributed.Client, optional
        Address of a Dask scheduler, or a client of it. By default local processes are started.
    workers : int, optional
        Number of local processes, if no scheduler is given. By default one per core.
    timeout : float, optional
        Longest time per item in s. After it the worker is ended and its nanny restarts it. Workers must have one
        thread each (``dask worker --nthreads 1``).
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    list of dict
        Rows in the order of the items. Added columns: item, its description; key, its hash; run, the id of the call
        that computed it; error, None on success; trace, the traceback; seconds; table, the table's file name; bytes,
        the table's size.

    Raises
    ------
    ValueError
        If an item is given twice, or if both `scheduler` and `workers` are given.
    OSError
        If the folder is full or in use by another call.
    ConnectionError
        If the connection to the scheduler is lost.

    Notes
    -----
    Workers write each result to its own files, ``NAME.json`` and ``NAME.parquet``. NAME ends in a hash of the item,
    the function and its source file, the options and the version of this package. Stored results are not computed
    again, except failed ones. After an OSError or a ConnectionError all results are kept, and the next call continues.
    An item whose workers died more often than Dask's setting distributed.scheduler.allowed-failures allows gives a row
    with that error.
    """
    from distributed import CancelledError
    from distributed.comm import CommClosedError
    from tqdm import tqdm
    options, out = dict(options or {}), Path(out).absolute()
    timeout = None if timeout is None else checks.positive("timeout", timeout)
    workers = None if workers is None else checks.whole("workers", workers, 1)
    check_where(scheduler, workers)
    names = _names(function, items, options)
    (out / UNFINISHED).mkdir(parents=True, exist_ok=True)
    with _alone(out):
        for left in (out / UNFINISHED).iterdir():           # by killed calls, or calls that found the folder full
            left.unlink(missing_ok=True)
        rows = [stored(out, name) if (out / f"{name}.json").exists() else None for name in names]
        todo = [k for k, row in enumerate(rows) if row is None or row["error"] is not None]
        with tqdm(total=len(items), initial=len(items) - len(todo), disable=not progress) as bar:
            run = _Run(function, items, names, options, out, timeout, bar)
            for _ in range(CONNECTIONS):
                if todo := [k for k in todo if k not in run.rows]:
                    # The connection is lost during the call or while connecting.
                    with suppress(CommClosedError, CancelledError), _client(scheduler, workers, timeout) as client:
                        run.go_on(client, todo)
        if todo := [k for k in todo if k not in run.rows]:
            raise ConnectionError(f"the scheduler {scheduler} was lost: {len(items) - len(todo)} of {len(items)} items "
                                  f"are done and kept in {out}; call again to go on")
    return [run.rows.get(k, row) for k, row in enumerate(rows)]


def check_where(scheduler: Any, workers: int | None) -> None:
    """Raise ValueError if both a scheduler and a number of workers are given: a scheduler has its own workers."""
    if scheduler is not None and workers is not None:
        raise ValueError(f"workers {workers} are processes of this machine, and the scheduler {scheduler} has its own: "
                         "one of the two must be None")


class _Run:
    """One call of `each`: the tasks of a client, and the rows returned, by item index."""

    def __init__(self, function: Callable, items: Sequence[Any], names: Sequence[str], options: Mapping[str, Any],
                 out: Path, timeout: float | None, bar: Any):
        self.shared, self.items, self.names, self.out = (function, options), items, names, out
        self.timeout, self.bar, self.count, self.id = timeout, bar, count(), uuid.uuid4().hex[:8]
        self.rows: dict[int, dict[str, Any]] = {}
        self.failed = 0

    def go_on(self, client: Any, todo: Sequence[int]) -> None:
        """Compute the items with the indices `todo`, until all are done or the scheduler is lost."""
        import cloudpickle
        from distributed import as_completed
        shared = client.submit(_loaded, cloudpickle.dumps(self.shared), key=f"shared-{self.id}", priority=1)
        waiting, room, free = iter(todo), max(LEAST, AHEAD * len(client.nthreads())), 0
        going = as_completed(self._submitted(client, shared, islice(waiting, room)))
        for batch in going.batches():
            done = [future for future in batch if future.status == "finished"]
            for future, row in zip(done, client.gather(done), strict=True):
                self._take(future.key[1], row)
            if any(future.status not in ("finished", "error") for future in batch):
                return                          # cancelled: the client has lost its scheduler
            failed = [future for future in batch if future.status == "error"]
            innocent = [future.key[1] for future in failed if not self._failed(future)]
            free += len(batch) - len(innocent)
            if innocent or 2 * free >= room:
                going.update(self._submitted(client, shared, chain(innocent, islice(waiting, free))))
                free = 0

    def _submitted(self, client, shared, numbers):
        """Submit items and return their futures. The keys form one group, from which Dask estimates task durations."""
        numbers = list(numbers)
        keys = [(f"item-{self.id}", k, next(self.count)) for k in numbers]
        return client.map(compute, [self.items[k] for k in numbers], [self.names[k] for k in numbers], key=keys,
                          shared=shared, folder=self.out, timeout=self.timeout, run=self.id) if numbers else []

    def _failed(self, future):
        """Store the error row of an item whose task failed. Raises OSError if the folder is full.

        Returns False if the item only waited on workers that other items crashed."""
        from distributed.scheduler import KilledWorker
        error, k = future.exception(), future.key[1]
        if isinstance(error, FolderFull):
            done = sum((row := stored(self.out, name)) is not None and row["error"] is None for name in self.names)
            raise OSError(error.args[0], f"{error.args[1]}: {done} of {len(self.items)} items are done and kept; free "
                                         "disk space, and call again") from None
        text = repr(error)
        if isinstance(error, KilledWorker):
            if (died := beginnings(self.out, self.names[k], self.id)) <= error.allowed_failures:
                return False
            text = f"{died} workers died with it"
            progress_file(self.out, self.names[k], self.id).unlink()
        row = started(self.items[k], self.names[k], self.id) | {"error": text}
        self._take(k, store(self.out, self.names[k], row))
        return True

    def _take(self, k, row):
        self.rows[k] = row
        self.failed += row["error"] is not None
        self.bar.set_postfix(failed=self.failed, refresh=False)
        self.bar.update()


def _loaded(pickled):
    """Return the unpickled function and options: once per worker, which caches or fetches the result."""
    import pickle
    return pickle.loads(pickled)


def _names(function: Callable, items: Sequence[Any], options: Mapping[str, Any]) -> list[str]:
    """Return the names of the items' results, with their hashes. Raises ValueError if two items are the same."""
    from dask.base import tokenize

    from screw_dynamics import __version__
    try:
        with open(inspect.getfile(function), "rb") as file:
            code = function.__module__, function.__qualname__, file.read()
    except (TypeError, OSError, AttributeError):            # a function from a console, or a partial one
        code = function
    common, names = tokenize(code, options, __version__, ensure_deterministic=True), {}
    for k, item in enumerate(items):
        words = re.sub(r"[^\w.-]+", "_", described(item).rstrip("/").rpartition("/")[2])[:40].strip("_.")
        name = f"{words}-{tokenize(common, item, ensure_deterministic=True)}"
        if (first := names.setdefault(name, k)) != k:
            raise ValueError(f"items[{k}] and items[{first}] are the same: {described(item)}")
    return list(names)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Lock the folder. Raises OSError if another process has locked it."""
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"{out} is in use by another call of each()") from None
        yield


@contextmanager
def local_client(workers: int | None) -> Iterator[Any]:
    """Yield a client of local processes with one thread each, by default one per core."""
    import dask
    from distributed import Client, LocalCluster
    workers = workers or os.cpu_count()
    with dask.config.set(LOCAL), LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs=logging.CRITICAL) as cluster, Client(cluster) as client:
        # A nanny may end if its worker dies soon after its start: without a replacement all would wait forever.
        cluster.adapt(minimum=workers, maximum=workers)
        yield client


@contextmanager
def _client(scheduler: Any, workers: int | None, timeout: float | None) -> Iterator[Any]:
    """Yield a client of a scheduler, or of a local cluster that is closed afterward."""
    from distributed import Client
    if scheduler is None:
        with local_client(workers) as client:
            yield client
        return
    with nullcontext(scheduler) if isinstance(scheduler, Client) else Client(scheduler, timeout=PATIENCE) as client:
        if timeout and (several := {n for n in client.nthreads().values() if n > 1}):
            raise ValueError(f"timeout {timeout:g} s: workers must have one thread, not {max(several)}, as they end "
                             "with the time: dask worker --nthreads 1")
        yield client
