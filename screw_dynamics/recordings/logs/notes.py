"""Notes on data that a reader found, dropped or changed: texts with counts."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple


class Note(NamedTuple):
    """A note on data that a reader found, dropped or changed.

    kind: category, such as "gap". text: description and place. count: number of occurrences, messages or rows."""

    kind: str
    text: str
    count: int = 1


class Notes:
    """Notes in the order in which they were added.

    Parameters
    ----------
    notes : iterable of tuple, optional
        Notes (kind, text) or (kind, text, count). Counts of notes with equal kind and text are summed.

    Notes
    -----
    Iteration yields the notes, the length is their number, and an empty object is false.
    """

    def __init__(self, notes: Iterable[tuple[Any, ...]] = ()):
        self._counts: dict[tuple[str, str], int] = {}
        for note in notes:
            self.add(*note)

    def add(self, kind: str, text: str, count: int = 1) -> None:
        """Add a note.

        Parameters
        ----------
        kind : str
            Category, such as "gap".
        text : str
            Description with the place.
        count : int, optional
            Number of occurrences. Nothing is added for 0.
        """
        if count:
            key = str(kind), str(text)
            self._counts[key] = self._counts.get(key, 0) + int(count)

    def count(self, kind: str) -> int:
        """Return the number of occurrences of a kind.

        Parameters
        ----------
        kind : str
            Category.

        Returns
        -------
        int
            Sum of the counts of this kind, 0 without a note.
        """
        return sum(note.count for note in self if note.kind == kind)

    @property
    def counts(self) -> dict[str, int]:
        """The number of occurrences by kind."""
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


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return the names as text: the first ones, at most `most`, and the number of further ones."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
