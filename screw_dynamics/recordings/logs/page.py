"""The report on many episodes: one self-contained HTML file with embedded figures."""
import base64
import html
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from screw_dynamics.utils.atomic_write import write_atomically

_escape = partial(html.escape, quote=False)       # for text: quotes are kept, as in commands
MOST = 500          # largest number of rows of a table
STYLE = """body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#1f2933}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}img{max-width:100%}pre{background:#f5f7fa;padding:1em;
overflow-x:auto}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px}
td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #e4e7eb;white-space:nowrap}
td:first-child,th:first-child{text-align:left}td.text,th.text{text-align:left}td.text{white-space:normal}.bad{color:#b44d00}"""


class Page:
    """An HTML page, built from top to bottom."""

    def __init__(self, title: str):
        self.title, self._parts = title, [f"<h1>{_escape(title)}</h1>"]

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f"<h2>{_escape(text)}</h2>")

    def text(self, text: str, bad: bool = False) -> None:
        """Add a paragraph; `bad` highlights it."""
        self._parts.append(f"<p{' class=bad' if bad else ''}>{_escape(text)}</p>")

    def listing(self, text: str) -> None:
        """Add preformatted text."""
        self._parts.append(f"<pre>{_escape(text)}</pre>")

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Iterable[str],
              everything: str = "summary.csv and summary.parquet") -> None:
        """Add a table of the given columns; of more than MOST rows, add the total and the files with all of them."""
        columns, shown = list(columns), rows[:MOST]
        texts = {name for name in columns if any(isinstance(row.get(name), str | list) for row in shown)}
        head = "".join(f"<th{' class=text' * (name in texts)}>{_escape(name)}</th>" for name in columns)
        body = "".join("<tr>" + "".join(_cell(row.get(name)) for name in columns) + "</tr>" for row in shown)
        self._parts.append(f"<div class=wide><table><tr>{head}</tr>{body}</table></div>")
        if len(rows) > MOST:
            self.text(f"{MOST} of {len(rows)} are shown; all are in {everything}.")

    def figure(self, figure: Any) -> None:
        """Add a matplotlib figure and close it."""
        from matplotlib import pyplot
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=100)
        pyplot.close(figure)
        text = base64.b64encode(buffer.getvalue()).decode()
        self._parts.append(f'<img alt="" src="data:image/png;base64,{text}">')

    def html(self) -> str:
        """Return the page as HTML."""
        return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_escape(self.title)}</title>'
                f"<style>{STYLE}</style>{''.join(self._parts)}</html>\n")

    def write(self, path: Path) -> None:
        """Write the page atomically."""
        write_atomically(path, self.html())


def _cell(x):
    if isinstance(x, float):
        return f"<td>{x:.4g}</td>"
    if isinstance(x, list):
        return f"<td class=text>{'<br>'.join(_escape(str(line)) for line in x)}</td>"
    text = "" if x is None else _escape(str(x))
    return f"<td class=text>{text}</td>" if isinstance(x, str) else f"<td>{text}</td>"
