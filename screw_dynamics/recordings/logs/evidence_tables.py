"""Evidence as a table of one row, lossless, for files and for transfer between processes."""
from typing import Any

import numpy as np

from screw_dynamics.analysis.identification.evidence import Evidence


def packed(found: Evidence) -> Any:
    """Return a pyarrow.Table of the evidence, with the upper triangles of its matrices."""
    import pyarrow
    rows, columns = np.triu_indices(found.R.shape[1])
    own = np.triu_indices(found.noise.shape[1])
    return pyarrow.table({
        "triangles": [found.R[:, rows, columns].ravel()], "counts": [np.asarray(found.counts, dtype=np.int64)],
        "covariances": [found.covariances.ravel()], "largest": [found.largest], "samples": [found.samples],
        "noise": [found.noise[(slice(None), *own)].ravel()]})


def unpacked(source: Any) -> Evidence:
    """Return the evidence in a table or a Parquet file."""
    from pyarrow import Table, parquet
    table = source if isinstance(source, Table) else parquet.read_table(source)
    columns = {name: table[name][0] for name in table.column_names}
    triangles, counts, covariances, noise = (columns[name].values.to_numpy() for name in (
        "triangles", "counts", "covariances", "noise"))
    n = len(counts)
    upper = _upper(noise, n)
    return Evidence(_upper(triangles, n), counts.copy(), covariances.reshape(n, -1).copy(), columns["largest"].as_py(),
                    columns["samples"].as_py(), upper + np.triu(upper, 1).swapaxes(1, 2))


def _upper(numbers: np.ndarray, n: int) -> np.ndarray:
    """Return upper triangular matrices (n, w, w) from their entries, row by row."""
    width = round((np.sqrt(8.0 * len(numbers) / n + 1.0) - 1.0) / 2.0)
    found = np.zeros((n, width, width))
    found[(slice(None), *np.triu_indices(width))] = numbers.reshape(n, -1)
    return found
