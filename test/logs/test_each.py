"""A function of each of many items: each is computed once, whatever happens to those who do it, and none is lost."""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from support import items as functions
from support.paths import ROOT

pytest.importorskip("distributed", reason="the engine is Dask, of the extra [logs]")

from distributed import Client, LocalCluster  # noqa: E402

from screw_dynamics.recordings.logs import each  # noqa: E402


@pytest.fixture(scope="module")
def client():
    """Workers that are threads of this process, which start at once."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster, \
            Client(cluster) as client:
        yield client


def run(client, function, items, out, **options):
    return each(function, items, out, options, scheduler=client, progress=False)


def computed(folder):
    return sorted(map(int, (folder / "computed").read_text().split()))


def test_rows_and_tables_are_those_of_the_function(client, tmp_path):
    """In the order of the items; both are in files too, and the table's file says what it is of."""
    import pyarrow.parquet
    items = [3, 1, 2]
    rows = run(client, functions.doubled, items, tmp_path, factor=3.0)
    assert [row["result"] for row in rows] == [9.0, 3.0, 6.0] and [row["item"] for row in rows] == ["3", "1", "2"]
    for item, row in zip(items, rows, strict=True):
        assert row["error"] is None and row["seconds"] >= 0.0
        assert json.loads((tmp_path / row["table"]).with_suffix(".json").read_text()) == row
        table = pyarrow.parquet.read_table(tmp_path / row["table"])
        np.testing.assert_array_equal(table["x"], [item, 3.0 * item])
        about = json.loads(table.schema.metadata[b"screw_dynamics.row"])
        assert (about["key"], about["result"]) == (row["key"], row["result"])


def test_what_is_done_is_not_done_again(client, tmp_path):
    """Of more items the new ones alone; other options, or a table that is not whole, are other results."""
    out = tmp_path / "out"
    first = run(client, functions.counted, range(4), out, folder=str(tmp_path))
    again = run(client, functions.counted, range(6), out, folder=str(tmp_path))
    assert again[:4] == first and computed(tmp_path) == [0, 1, 2, 3, 4, 5]
    run(client, functions.counted, range(1), out, folder=str(tmp_path), seconds=1e-3)
    assert computed(tmp_path) == [0, 0, 1, 2, 3, 4, 5]
    row, = run(client, functions.doubled, [7], out)
    (out / row["table"]).write_bytes(b"")
    again, = run(client, functions.doubled, [7], out)
    assert again["run"] != row["run"] and again["bytes"] == (out / row["table"]).stat().st_size > 0
    (out / row["table"]).with_suffix(".json").write_text("")            # as a machine leaves it that loses power
    assert run(client, functions.doubled, [7], out)[0]["result"] == 14.0


def test_what_failed_is_a_row_and_is_tried_again(client, tmp_path):
    runs = set()
    for _ in range(2):
        rows = run(client, functions.refused, range(5), tmp_path)
        runs.add(rows[1]["run"])
        assert [row["error"] for row in rows] == [None, "ValueError: 1 is odd", None, "ValueError: 3 is odd", None]
        assert "in refused" in rows[1]["trace"] and "result" not in rows[1] and rows[4]["result"] == 4
    assert len(runs) == 2
    texts = [row["error"] for row in run(client, functions.odd_row, ["text", "taken", "object"], tmp_path)]
    assert "must return a dict" in texts[0] and "reserved column 'error'" in texts[1]
    assert "a row cannot hold object" in texts[2]


def test_wrong_arguments_are_named(client, tmp_path):
    with pytest.raises(ValueError, match=r"items\[2\] and items\[0\] are the same: 5"):
        run(client, functions.doubled, [5, 6, 5], tmp_path)
    with pytest.raises(ValueError, match="timeout -1.0 must be finite and > 0"):
        each(functions.doubled, [1], tmp_path, scheduler=client, timeout=-1.0)
    with pytest.raises(ValueError, match="workers 2 are processes of this machine, and the scheduler <Client"):
        each(functions.doubled, [1], tmp_path, scheduler=client, workers=2)
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster, \
            Client(cluster) as several, pytest.raises(ValueError, match="must have one thread, not 2"):
        each(functions.doubled, [1], tmp_path, scheduler=several, timeout=1.0)


def test_two_calls_do_not_share_a_folder(client, tmp_path):
    def other(item):
        return run(client, functions.doubled, [1], tmp_path)
    with pytest.raises(BlockingIOError, match="in use by another call"):
        from screw_dynamics.recordings.logs.each_item import _alone
        with _alone(tmp_path):
            other(1)


@pytest.mark.slow
def test_a_worker_that_hangs_is_ended_and_the_rest_goes_on(tmp_path):
    """Also where the interpreter's lock is held; the row says where it was."""
    items = [("harmless", 0), ("spins", 1), ("harmless", 2)]
    rows = each(functions.of_kind, items, tmp_path, workers=1, timeout=1.0, progress=False)
    assert [row.get("number") for row in rows] == [0, None, 2]
    assert rows[1]["error"].startswith("took longer than 1 s, in ") and "items.py" in rows[1]["error"]
    assert not list((tmp_path / "unfinished").iterdir())


@pytest.mark.slow
def test_an_item_that_kills_its_workers_is_a_row_and_no_other_is_blamed(tmp_path):
    items = [({8: "dies", 9: "sleeps"}.get(k, "harmless"), k) for k in range(16)]
    rows = each(functions.of_kind, items, tmp_path, workers=2, timeout=2.0, progress=False)
    assert [k for k, row in enumerate(rows) if row["error"]] == [8, 9]
    assert "workers died with it" in rows[8]["error"] and "took longer than 2 s" in rows[9]["error"]
    assert all(row["number"] == k for k, row in enumerate(rows) if not row["error"])


@pytest.mark.slow
def test_items_that_wait_on_a_worker_are_not_blamed_for_its_death(tmp_path):
    """One worker has both, as there are few: of more, Dask keeps those that wait to itself."""
    rows = each(functions.of_kind, [("dies", 0), ("harmless", 1)], tmp_path, workers=1, progress=False)
    assert "workers died with it" in rows[0]["error"] and rows[1]["error"] is None


def test_what_killed_calls_left_is_cleared_away(client, tmp_path):
    left = tmp_path / "unfinished" / "5-abc.123"
    left.parent.mkdir()
    left.write_text("begun on another machine")
    assert [row["result"] for row in run(client, functions.doubled, [5], tmp_path)] == [10]
    assert not left.exists()


@pytest.mark.slow
def test_a_full_folder_ends_the_run_and_what_is_done_stays(tmp_path):
    """The kernel refuses to write, as it does on a full disk; with room it goes on where it was."""
    with pytest.raises(OSError, match=r"\d of 8 items are done and kept; free disk space, and call again") as error:
        each(functions.without_room, range(8), tmp_path, workers=1, progress=False)
    done = list(tmp_path.glob("*.json"))
    assert f": {len(done)} of 8" in str(error.value) and not list(tmp_path.rglob(".*.json"))
    assert all(json.loads(path.read_text())["error"] is None for path in done)


SCRIPT = """
import sys
from screw_dynamics.recordings.logs import each
from support import items
if __name__ == "__main__":
    each(items.counted, range(40), sys.argv[1] + "/out", {"folder": sys.argv[1], "seconds": 0.1}, workers=2)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path):
    """All its processes at once, twice; at last each item is there, and at most those were done twice that
    were at work: two a kill."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for wanted in (5, 20):
        with subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=environment(), start_new_session=True,
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and len(list(tmp_path.glob("out/*.json"))) < wanted:
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGKILL)
    rows = each(functions.counted, range(40), tmp_path / "out", {"folder": str(tmp_path), "seconds": 0.1}, workers=2,
                progress=False)
    assert [row["result"] for row in rows] == [k**2 for k in range(40)]
    done = computed(tmp_path)
    assert set(done) == set(range(40)) and len(done) <= 40 + 2 * 2


@pytest.mark.slow
def test_workers_that_are_killed_at_random_lose_nothing(tmp_path):
    chance, over, killed = random.Random(3), threading.Event(), []

    def kill():
        """One after every fifth result, so that the slowest machine gets on."""
        while not over.wait(0.05):
            found = []
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):            # of one that has just ended
                    found += [child] * ("spawn_main" in " ".join(child.cmdline()))
            if found and len(list(tmp_path.glob("out/*.json"))) >= 5 * (len(killed) + 1):
                with suppress(psutil.NoSuchProcess):
                    worker = chance.choice(found)
                    worker.kill()
                    killed.append(worker)
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        rows = each(functions.counted, range(40), tmp_path / "out", {"folder": str(tmp_path), "seconds": 0.2},
                    workers=2, progress=False)
    finally:
        over.set()
        killer.join()
    assert [row["result"] for row in rows] == [k**2 for k in range(40)]
    assert set(computed(tmp_path)) == set(range(40)) and len(list(Path(tmp_path, "out").glob("*.json"))) == 40
    assert len(killed) > 5


def environment():
    """In which processes find the package, and what is done to items."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "test", *sys.path)))}


def start(*arguments):
    return subprocess.Popen([sys.executable, "-m", *map(str, arguments)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True, env=environment())


@pytest.mark.slow
def test_a_scheduler_that_is_restarted_loses_nothing(tmp_path):
    """It, and its workers, are killed, and others take their place at the same address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, processes = f"tcp://127.0.0.1:{port}", []

    def begin():
        processes.append(start("distributed.cli.dask_scheduler", "--port", port, "--no-dashboard"))
        processes.append(start("distributed.cli.dask_worker", address, "--nthreads", 1, "--nworkers", 2))

    def restart():
        while len(list(tmp_path.glob("out/*.json"))) < 10:
            time.sleep(0.05)
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        begin()
    begin()
    other = threading.Thread(target=restart)
    other.start()
    try:
        rows = each(functions.counted, range(40), tmp_path / "out", {"folder": str(tmp_path), "seconds": 0.2},
                    scheduler=address, timeout=60.0, progress=False)
    finally:
        other.join()
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    assert [row["result"] for row in rows] == [k**2 for k in range(40)]
    done = computed(tmp_path)
    assert set(done) == set(range(40)) and len(done) <= 42
