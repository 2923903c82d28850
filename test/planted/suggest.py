"""Faults for a file, to choose from: python -m planted.suggest FILE ... prints rows for the table.

One token becomes another in lines that the package has once; choose what changes a result, and no text or comment."""
import io
import random
import sys
import tokenize
from pathlib import Path

from .table import Fault, place, sources

COUNT = 8               # faults for a file
OTHER = {"+": "-", "-": "+", "*": "/", "/": "*", "<": ">", ">": "<", "<=": ">", ">=": "<", "==": "!=", "!=": "==",
         "+=": "-=", "-=": "+=", "and": "or", "or": "and", "&": "|", "|": "&", "not": "", "True": "False",
         "False": "True", "is": "is not", "in": "not in", "min": "max", "max": "min", "any": "all", "all": "any",
         "sin": "cos", "cos": "sin", "0": "1", "1": "2", "2": "1", "3": "2"}


def faults(file: Path, texts: dict[Path, str]) -> list[Fault]:
    """Some faults that can be planted in a file, the same ones every time."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(texts[file]).readline):
        line, (_, first), (_, last) = token.line, token.start, token.end
        if token.string in OTHER and not line.lstrip().startswith(("import", "from", "def", "raise", "@")):
            fault = Fault(line.strip(), (line[:first] + OTHER[token.string] + line[last:]).strip(), ())
            try:
                place(fault, texts)
            except (ValueError, SyntaxError):
                continue
            found.append(fault)
    random.Random(file.name).shuffle(found)
    return found[:COUNT]


if __name__ == "__main__":
    everything = sources(Path("screw_dynamics").resolve())
    for name in sys.argv[1:]:
        print(f"# {name}", *(f"- {fault.old}\n+ {fault.new}\n" for fault in faults(Path(name).resolve(), everything)),
              sep="\n")
