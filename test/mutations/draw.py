"""Places of the package, drawn with a seed: a file by the number of its lines, and one of its mutations."""
import random
from collections.abc import Mapping
from pathlib import Path

from .operators import Mutation, mutations


def draw(texts: Mapping[Path, str], count: int, seed: int) -> list[tuple[Path, Mutation]]:
    """Return `count` different mutations of sources."""
    chance, found, files = random.Random(seed), {}, sorted(texts)
    lines, known = [len(texts[file].splitlines()) for file in files], {}
    while len(found) < count:
        file, = chance.choices(files, lines)
        if file not in known:
            known[file] = mutations(texts[file])
        if known[file]:
            found[file, chance.choice(known[file])] = None
    return list(found)
