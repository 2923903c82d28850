"""Safe display of text from outside: names of nodes, types and joints on the network are arbitrary. Pure Python."""


def printable(text: str) -> str:
    """Return the text with control characters and line ends escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode()
                                                   for c in text)


def indented(text: str) -> str:
    """Return a text whose lines are escaped as by `printable`. Lines after the first are indented, so that none looks
    like a log line of the node itself."""
    return "\n  ".join(printable(line.expandtabs()) for line in text.splitlines()) if "\n" in text else printable(text)
