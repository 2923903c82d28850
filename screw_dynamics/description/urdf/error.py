"""Errors (UrdfError), and notes and warnings on odd but usable descriptions (Notes, UrdfWarning)."""
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable

UNEXPANDED = "is unexpanded xacro: run xacro on the file first"
LONGEST_QUOTE = 60      # characters of a file quoted in a message
LONGEST_LIST = 8        # names listed in a message


class UrdfError(ValueError):
    """An unusable robot description; the message names the line, the element and the value."""


class UrdfWarning(UserWarning):
    """A warning about an odd or ignored part of a usable robot description; the model's `warnings` have the same texts.

    `warnings.simplefilter("ignore", sd.UrdfWarning)` hides these warnings; "error" raises them."""


def issue(texts: Iterable[str], category: type[Warning] = UrdfWarning) -> None:
    """Issue each text as a warning, attributed to the line that called this package."""
    frame, level = sys._getframe(1), 3
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_back.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, category, stacklevel=level)


def fault(message: str, line: int | None = None) -> UrdfError:
    """Return a UrdfError with this message, preceded by the line number of the fault."""
    return UrdfError(message if line is None else f"line {line}: {message}")


def quote(text: object) -> str:
    """Return a name or value of the file in quotes, cut to LONGEST_QUOTE characters."""
    text = str(text)
    return repr(text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + "...")


def listed(names: Iterable[str]) -> str:
    """Return the names in quotes, sorted, at most LONGEST_LIST of them and the number of the rest."""
    ordered = sorted(names)
    rest = len(ordered) - LONGEST_LIST
    return ", ".join(map(quote, ordered[:LONGEST_LIST])) + (f" and {rest} more" if rest > 0 else "")


class Notes:
    """Notes grouped by topic: a fault in thirty joints gives one warning."""

    def __init__(self) -> None:
        self._topics: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, topic: str, name: str) -> None:
        """Add the element of this name to a topic."""
        self._topics[topic].add(name)

    def texts(self) -> list[str]:
        """Return one warning per topic, independent of the order of elements."""
        return [f"{topic}: {listed(names)}" for topic, names in sorted(self._topics.items())]
