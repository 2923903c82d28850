"""Tables in Markdown."""


def markdown(header, rows):
    """A table, numbers to the right."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
