"""The benchmark's table for docs/benchmarks.md, made of rows as measurements give them."""
from types import SimpleNamespace

from benchmarks.contestants import OURS
from benchmarks.report import as_markdown
from benchmarks.targets import Row

MACHINE = {"processor": "some processor", "cores": 2, "vector instructions": "AVX2", "date": "2026-01-02",
           "Python": "3.12"}
ROWS = [
    Row("one state", "", "gravity", 1.3, {"UR5": 1.84, "Talos": 3.0}),
    Row("one state", "out=", "gravity", 2.0, {"UR5": 2.6, "Talos": 3.4}),
    Row("one state", "specialized", "gravity", None, {"UR5": 4.06}),
    Row("two threads", "", f"inverse dynamics of 4096, {OURS}", 1.8, {"UR5": 1.25}),
    Row("two threads", "", "inverse dynamics of 4096, Pinocchio", None, {"UR5": 1.9}),
    Row("simulation", "", "one robot", 3.0, {"chain 50": 2.7}),
]


def test_the_table_has_a_row_for_each_call_and_one_number_a_cell():
    table, _, legend = as_markdown(MACHINE, SimpleNamespace(versions={"Pinocchio": "4.1"}), ROWS).partition("\n\n")
    assert table.splitlines() == [
        "| times faster | than | call | target | UR5 | Talos | chain 50 |",
        "|---|---|---|---|---|---|---|",
        "| gravity, one state | Pinocchio | plain | 1.3 | 1.8 | 3.0 |  |",
        "|  |  | `out=` | 2 | 2.6 | 3.4 |  |",
        "|  |  | specialized |  | 4.1 |  |  |",
        "| two threads, inverse dynamics of 4096 | one thread | plain | 1.8 | 1.2 |  |  |",
        "| simulation, one robot | MuJoCo | plain | 3 |  |  | 2.7 |"]
    assert legend.endswith("some processor, 2 cores, AVX2, 2026-01-02; Pinocchio 4.1, Python 3.12.")
