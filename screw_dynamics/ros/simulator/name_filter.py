"""Regular expressions of strangers, by which names are chosen: only those whose search ends soon."""
import re
from collections.abc import Callable

MOST_FILTER = 1000      # characters of an expression
MOST_REPEATS = 3        # in one: a search may take the length of a name to the power of these
# Of an expression: an escape, a class, what begins a comment, comments by the flag x, or a group; or a character.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#|\(\?[a-zA-Z]*x[a-zA-Z-]*[:)]|\(\??|.", re.DOTALL)


def matching(name: str, expression: str) -> Callable[[str], object]:
    """Return a function that finds a regular expression in a text; "" is found in all.

    Raises ValueError, about `name`, for what is no expression of Python, or too long; for more than MOST_REPEATS of
    * + ? {}, and for one of a group that has one, or alternatives, in it: both can take longer than a node has; and for
    comments, which could hide these."""
    if len(expression) > MOST_FILTER:
        raise ValueError(f"{name} has {len(expression)} characters, at most {MOST_FILTER} are taken")
    try:
        found = re.compile(expression).search
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{name} {expression!r} is no regular expression: {error}") from None
    count, several, closed = 0, [False], False  # ways of each open group, and of the one that has just been closed
    for piece in _PIECE.findall(expression):
        if piece.startswith("(?") and piece != "(?":
            raise ValueError(f"{name} {expression!r} has {piece}: comments, which the flag x allows, are not taken")
        if piece in "*+?{":
            count += 1
            if count > MOST_REPEATS or closed:
                raise ValueError(f"{name} {expression!r} could take too long: at most {MOST_REPEATS} of * + ? and {{}} "
                                 "are taken, and none of a group that has one, or alternatives, in it")
        closed = piece == ")" and several.pop()
        if closed or piece in "*+?{|":
            several[-1] = True
        if piece.startswith("("):
            several.append(False)
    return found
