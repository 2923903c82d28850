"""Text from outside as it may be shown: names of nodes, types, joints are whatever somebody on the network says.

Pure Python."""


def printable(text: str) -> str:
    """Return the text with characters that a terminal would act upon, or that end a line, as escapes."""
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode()
                                                   for c in text)


def indented(text: str) -> str:
    """Return a text whose lines are escaped as by `printable`. Those after the first are indented, so that none passes
    for one that the node itself begins."""
    return "\n  ".join(printable(line.expandtabs()) for line in text.splitlines()) if "\n" in text else printable(text)
