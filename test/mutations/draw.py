"""Places of the package, drawn with a seed: a file by the number of its lines, and one of its mutations."""
import random
from collections.abc import Mapping

from .operators import Mutation, mutations


def draw(texts: Mapping[str, str], count: int, seed: int) -> list[tuple[str, Mutation]]:
    """Return `count` different mutations of sources, or all where there are not so many."""
    chance, left, known, found = random.Random(seed), sorted(filter(texts.get, texts)), {}, []
    while left and len(found) < count:
        file, = chance.choices(left, [len(texts[file].splitlines()) for file in left])
        if file not in known:
            known[file] = mutations(texts[file])
        if known[file]:
            found.append((file, known[file].pop(chance.randrange(len(known[file])))))
        else:
            left.remove(file)
    return found
