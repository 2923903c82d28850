"""Regular expressions of strangers, by which names are chosen: only those whose search ends soon."""
import re
from collections.abc import Callable

MOST_FILTER = 1000      # characters of an expression
REPEAT = 32             # ways of one of * + ? {}, on the average: they take as many characters of a name as they like
MOST_WAYS = REPEAT**3   # to try an expression at one place of a name: 0.1 s for a name of 100 characters
# Of an expression: an escape, a class, what begins a comment, comments by the flag x, a group or a repeat; a character.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#|\(\?[a-zA-Z]*x[a-zA-Z-]*[:)]|\(\??|[*+?][?+]?|.", re.DOTALL)


def matching(name: str, expression: str) -> Callable[[str], object]:
    """Return a function that finds a regular expression in a text; "" is found in all.

    Raises ValueError, about `name`, for what is no expression of Python, or too long; for one that there are more than
    MOST_WAYS to try, which multiply along a sequence and add up over its alternatives, and for one of * + ? {} after a
    group of several ways: both can take longer than a node has; and for comments, which could hide these."""
    if len(expression) > MOST_FILTER:
        raise ValueError(f"{name} has {len(expression)} characters, at most {MOST_FILTER} are taken")
    try:
        found = re.compile(expression).search
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{name} {expression!r} is not a regular expression: {error}") from None
    groups, last = [[1]], 1         # of each open group, the ways of its alternatives so far; those of the last piece
    for piece in _PIECE.findall(expression):
        if piece.startswith("(?") and piece != "(?":
            raise ValueError(f"{name} {expression!r} has {piece}: comments, which the flag x allows, are not taken")
        repeats, before, last = piece[0] in "*+?{", last, 1
        if piece.startswith("("):
            groups.append([1])
        elif piece == "|":
            groups[-1].append(1)
        else:
            last = REPEAT if repeats else sum(groups.pop()) if piece == ")" else 1
            groups[-1][-1] *= last
            if sum(groups[-1]) > MOST_WAYS or repeats and before > 1:
                raise ValueError(f"{name} {expression!r} could take too long: at most three of * + ? and {{}} are "
                                 "taken in a sequence, fewer with alternatives, and none of a group that has one, or "
                                 "alternatives, in it")
    return found
