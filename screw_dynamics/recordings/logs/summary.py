"""Summary with one row per episode, as Parquet and CSV; its columns are the union of all rows' columns."""
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from screw_dynamics.utils.atomic_write import atomic_write

LONGEST = 300       # longest text in the table, in characters; the row's own file has the whole text


def write_summary(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write summary.parquet and summary.csv. Lists are joined to texts; tracebacks are only in the rows' own files."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
    left_out = "trace", "bytes", "run", "seconds"
    names = list(dict.fromkeys(name for row in rows for name in row if name not in left_out))
    table = pyarrow.table({name: _column([row.get(name) for row in rows]) for name in names})
    for suffix, write in ((".parquet", pyarrow.parquet.write_table), (".csv", pyarrow.csv.write_csv)):
        with atomic_write(folder / f"summary{suffix}") as new:
            write(table, new)


def _column(values):
    """Return a column: numbers unchanged, integers mixed with floats as floats, anything else as text."""
    kinds = {type(x) for x in values if x is not None}
    if kinds and kinds <= {int, float}:
        return [None if x is None else float(x) for x in values] if float in kinds else values
    return [None if x is None else _text(x) for x in values]


def _text(x):
    text = "; ".join(map(str, x)) if isinstance(x, list) else str(x)
    return text if len(text) <= LONGEST else f"{text[:LONGEST - 3]}..."
