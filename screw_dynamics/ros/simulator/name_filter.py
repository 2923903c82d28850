"""Selection of names by untrusted regular expressions: only those with a bounded search time are accepted."""
import re
from collections.abc import Callable

MOST_FILTER = 1000      # characters of an expression
REPEAT = 32  # average count of ways for one of * + ? {}, each of which can match any number of characters of a name
MOST_WAYS = REPEAT**3   # ways to match at one position of a name: 0.1 s for a name of 100 characters
# Tokens of an expression: an escape, a class, the begin of a comment, comments by the flag x, a group or a repeat; a
# character.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#|\(\?[a-zA-Z]*x[a-zA-Z-]*[:)]|\(\??|[*+?][?+]?|.", re.DOTALL)


def matching(name: str, expression: str) -> Callable[[str], object]:
    """Return a function that searches a text for a regular expression; "" matches every text.

    Raises ValueError, about `name`, for an expression that is invalid in Python or too long, or that has more than
    MOST_WAYS ways to match; ways multiply along a sequence and are added over alternatives. One of * + ? {} after a
    group with several ways is also refused: both can take too long for a node. Comments are refused, because they could
    hide such parts."""
    if len(expression) > MOST_FILTER:
        raise ValueError(f"{name} has {len(expression)} characters, at most {MOST_FILTER} are allowed")
    try:
        found = re.compile(expression).search
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{name} {expression!r} is not a regular expression: {error}") from None
    groups, last = [[1]], 1         # for each open group, the ways of its alternatives so far; those of the last token
    for piece in _PIECE.findall(expression):
        if piece.startswith("(?") and piece != "(?":
            raise ValueError(f"{name} {expression!r} has {piece}: comments, which the flag x allows, are not supported")
        repeats, before, last = piece[0] in "*+?{", last, 1
        if piece.startswith("("):
            groups.append([1])
        elif piece == "|":
            groups[-1].append(1)
        else:
            last = REPEAT if repeats else sum(groups.pop()) if piece == ")" else 1
            groups[-1][-1] *= last
            if sum(groups[-1]) > MOST_WAYS or repeats and before > 1:
                raise ValueError(f"{name} {expression!r} could take too long: a sequence may contain at most three of "
                                 "* + ? and {{}}, fewer with alternatives; a repeated group must contain none of "
                                 "these, and no alternatives")
    return found
