#!/usr/bin/env python3
"""Fuzz the URDF reader, guided by coverage: nothing but UrdfError may come out of it.

Needs Atheris (pip install atheris; Linux, Python 3.11 and later). Texts that reach new code are kept in a folder, and
one that gets anything but a UrdfError, or takes more than 20 s, ends the run and is written as crash-... or timeout-...

    python tools/fuzz_urdf.py [--seconds 600] [--corpus build/fuzz] [--keep test/urdf/corpus]

--keep writes those texts of the corpus that together reach all of its lines and branches, the smallest first, for
test/urdf/test_urdf_corpus.py, which reads them again with every run of the tests."""

import argparse
import random
import re
import sys
import warnings
from hashlib import sha1
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit("fuzz_urdf needs Atheris: pip install atheris")

with atheris.instrument_imports(include=["screw_dynamics.description.urdf", "screw_dynamics.model", "urdf_parser_py"]):
    from screw_dynamics.description.urdf import UrdfError, UrdfWarning, read_urdf

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "test"))

from support.faulty_urdfs import LOADED, MALFORMED, SOUND  # noqa: E402 - found by the path above

SEEDS = ({path.stem: path.read_bytes() for folder in ("urdf", "test/urdf/corpus")
          for path in sorted((ROOT / folder).glob("*.urdf"))}
         | {"sound": SOUND.encode()} | {name: data for name, (data, _) in MALFORMED.items()}
         | {name: text.encode() for name, (text, _) in LOADED.items()})     # name: bytes
LARGEST = 20_000   # bytes of a text
KEPT = 200_000     # bytes of all that is kept
ELEMENT = re.compile(rb"<(\w+)\b[^<>]*?(?:/>|>.*?</\1>)", re.DOTALL)
VALUE = re.compile(rb'"[^"<>]*"')
WORDS = [b'"%s"' % word for word in (
    b"0", b"-1", b"1e308", b"-1e-308", b"nan", b"inf", b"0 0 0", b"1e15 0 0", b"1 2 3 4", b"", b"\xc3\xa9", b"base",
    b"fixed", b"revolute", b"continuous", b"prismatic", b"floating", b"planar", b"&#0;",
    b"9" * 400, b"package://x/y", b"free/a")]


def text(data: bytes) -> bytes:
    """What is read: else it would be a path."""
    return data if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else b"<" + data


def read(data: bytes) -> None:
    """Read a text; raises what is not a UrdfError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        try:
            read_urdf(text(data))
        except UrdfError:
            pass


def mutate(data: bytes, largest: int, seed: int) -> bytes:
    """A text with an element or value removed, repeated, moved or replaced, or with other bytes."""
    rng = random.Random(seed)
    found = list((ELEMENT if rng.random() < 0.5 else VALUE).finditer(data))
    if not found or rng.random() < 0.2:
        return atheris.Mutate(data, largest)
    part, other = rng.choice(found), rng.choice(found)
    new = rng.choice((b"", 2 * part.group(), other.group(), rng.choice(WORDS), part.group().replace(b'"', b"'")))
    return (data[:part.start()] + new + data[part.end():])[:largest]


def covered(data: bytes) -> set:
    """The lines that reading a text runs, each with the line before it."""
    lines, last = set(), {}

    def trace(frame, event, _):
        code = frame.f_code
        if "screw_dynamics" not in code.co_filename:
            return None
        key = code.co_filename, frame.f_lineno, last.get(code)
        last[code] = frame.f_lineno
        lines.add(key)
        return trace

    sys.settrace(trace)
    try:
        read(data)
    finally:
        sys.settrace(None)
    return lines


def keep(corpus: Path, folder: Path) -> None:
    """Write the texts of a corpus that reach what no smaller one and no seed does, up to KEPT bytes."""
    seen = set().union(*(covered(data) for data in SEEDS.values()))
    folder.mkdir(exist_ok=True)
    size = 0
    for path in sorted(corpus.iterdir(), key=lambda path: path.stat().st_size):
        data = path.read_bytes()
        if size + len(data) <= KEPT and not (new := covered(data)) <= seen:
            seen |= new
            size += len(data)
            (folder / f"{sha1(data).hexdigest()[:12]}.urdf").write_bytes(text(data))
    print(f"{len(list(folder.iterdir()))} texts, {size} bytes")


def main() -> None:
    """Fuzz, or keep what fuzzing found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if options.keep:
        keep(options.corpus, options.keep)
        return
    options.corpus.mkdir(parents=True, exist_ok=True)
    for name, data in SEEDS.items():
        if len(data) <= LARGEST:
            (options.corpus / f"{name}.urdf").write_bytes(data)
    atheris.Setup(
        [sys.argv[0], str(options.corpus), f"-max_total_time={options.seconds}", f"-max_len={LARGEST}", "-timeout=20",
         "-rss_limit_mb=2048", f"-artifact_prefix={options.corpus.parent}/"],
        read, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
