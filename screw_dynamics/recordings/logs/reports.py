"""The contents of the command's reports, from the rows of all episodes."""
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import figures
from .identification import LogsIdentification
from .page import Page

WORST = 3       # number of episodes whose efforts are plotted


def begun(title: str, rows: Sequence[Mapping[str, Any]], details: Mapping[str, Any]) -> tuple[Page, list[Mapping]]:
    """Return a new page, and the rows of the successful episodes.

    The page lists the settings, the failed episodes with their errors, and the notes."""
    page, done = Page(title), [row for row in rows if row["error"] is None]
    failed = [row for row in rows if row["error"] is not None]
    page.text(f"{len(done)} of {len(rows)} episodes; {len(failed)} failed." if failed else f"{len(rows)} episodes.",
              bool(failed))
    models = sorted({row["model"] for row in done if row.get("model")} - {details.get("model")})
    if models:                                  # described in the logs
        details = details | {"models": ", ".join(models)}
    page.listing("\n".join(f"{name}: {value}" for name, value in details.items()))
    if failed:
        page.heading("Episodes that failed, and are in nothing below")
        page.table(failed, ("item", "error"))
    notes = [(note.partition(" (")[0], note.partition("): ")[2]) for row in done for note in row.get("notes") or ()]
    if notes:
        page.heading("What readers noted, in how many episodes")
        first, noted = dict(reversed(notes)), Counter(kind for kind, _ in notes)
        page.table([{"note": kind, "episodes": count, "such as": first[kind]} for kind, count in noted.most_common()],
                   ("note", "episodes", "such as"))
    return page, done


def residuals_page(page: Page, done: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Add external efforts, friction and missing energy over time, and the episodes with the largest efforts."""
    joints = _joints(done, "external_rms.")
    worst = sorted(done, key=lambda row: -max((row[f"external_rms.{joint}"] or 0.0 for joint in joints
                                               if row.get(f"external_rms.{joint}") is not None), default=0.0))
    _pictures(page, lambda: [("Over time", figures.over_time(done, {
        "external_rms": "external effort, rms, N m or N", "unexplained": "what a fit of friction leaves, rms",
        "energy_missing": "energy that nothing explains, J", "friction": "Coulomb friction that fits, N m or N",
        "damping": "damping that fits, N m s/rad or N s/m"}, joints))] + [
        (f"{row['item']}: among those with the largest external efforts",
         figures.efforts(_table(folder / row["table"]), joints)) for row in worst[:WORST]])
    page.heading("Episodes, those with the largest external efforts first")
    page.table(worst, ("item", "duration", "pieces", "energy_missing", *(f"external_rms.{x}" for x in joints)))


def check_page(page: Page, done: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Add problems, and rates over time."""
    wrong = [row for row in done if row["problems"]]
    page.heading("Problems")
    page.text(f"{len(wrong)} of {len(done)} episodes have problems." if wrong else "None has a problem.", bool(wrong))
    if wrong:
        page.table(wrong, ("item", "problems"))
    joints = _joints(done, "saturated.")
    _pictures(page, lambda: [("Over time", figures.over_time(done, {
        "rate": "samples a second", "lost": "messages lost", "longest_gap": "longest gap, s",
        "saturated": "share of efforts at the limit", "velocity_beyond": "samples beyond the limit of velocity",
        "jumps": "jumps of position"}, joints))])
    page.heading("Episodes")
    page.table(done, ("item", "duration", "samples", "rate", "spread", "lost", "gaps", "longest_gap"))


def convert_page(page: Page, done: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Add the table of items and their Parquet files."""
    page.heading("Files")
    page.table(done, ("item", "file"))


def identify_page(page: Page, found: LogsIdentification, done: Sequence[Mapping[str, Any]]) -> None:
    """Add the identified parameters, the agreement of the episodes, and the drift."""
    page.heading("Parameters")
    page.listing(str(found.found))
    joints = _joints(done, "residual.")
    _pictures(page, lambda: [
        ("Before and now", found.found.plot()),
        ("What is not explained of each episode, by all, and by all others", figures.over_time(
            done, {"residual": "by all, rms, N m or N", "left_out": "by all others, rms"}, joints)),
        ("Base parameters that changed most over time, with standard deviations", found.plot())])
    page.heading("Episodes")
    page.table(done, ("item", "samples", "equations", *(f"left_out.{x}" for x in joints)))


def _joints(rows, prefix):
    return list(dict.fromkeys(name.removeprefix(prefix) for row in rows for name in row if name.startswith(prefix)))


def _pictures(page, draw):
    """Add headings and figures, or an error text if matplotlib is not installed."""
    try:
        found = draw()
    except ImportError as error:
        page.text(str(error), bad=True)
        return
    for heading, figure in found:
        page.heading(heading)
        page.figure(figure)


def _table(path):
    from pyarrow import parquet
    table = parquet.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}
