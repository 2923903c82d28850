"""Notes on what a reader found, dropped and changed: counts with texts."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Note(NamedTuple):
    """kind: a word to count by, as "gap"; text: what and where; count: how often, or of how many messages or rows."""

    kind: str
    text: str
    count: int = 1


class Notes:
    """Notes in the order in which they were made.

    Parameters
    ----------
    notes : iterable of tuple, optional
        Notes (kind, text) or (kind, text, count). Those with the same kind and text are one, with their sum.

    Notes
    -----
    It iterates over the notes, its length is their number, and it is false if there is none.
    """

    def __init__(self, notes: Iterable[tuple[Any, ...]] = ()):
        self._counts: dict[tuple[str, str], int] = {}
        for note in notes:
            self.add(*note)

    def add(self, kind: str, text: str, count: int = 1) -> None:
        """Add a note of what happened.

        Parameters
        ----------
        kind : str
            Word to count by, as "gap".
        text : str
            Description with the place.
        count : int, optional
            Number of times that it happened. 0 times is no note.
        """
        if count:
            key = str(kind), str(text)
            self._counts[key] = self._counts.get(key, 0) + int(count)

    def count(self, kind: str) -> int:
        """Return the number of times that a kind of thing happened.

        Parameters
        ----------
        kind : str
            Word to count by.

        Returns
        -------
        int
            Sum over the notes of this kind. 0 without one.
        """
        return sum(note.count for note in self if note.kind == kind)

    @property
    def counts(self) -> dict[str, int]:
        """{kind: how often}."""
        counts: dict[str, int] = {}
        for note in self:
            counts[note.kind] = counts.get(note.kind, 0) + note.count
        return counts

    def __iter__(self) -> Iterator[Note]:
        return (Note(kind, text, count) for (kind, text), count in self._counts.items())

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Notes) else NotImplemented

    __hash__ = None         # type: ignore[assignment]    # it grows

    def __str__(self) -> str:
        return "\n".join(f"{kind} ({count}): {text}" for kind, text, count in self)

    def __repr__(self) -> str:
        return f"<Notes: {', '.join(f'{kind} {count}' for kind, count in self.counts.items()) or 'none'}>"
