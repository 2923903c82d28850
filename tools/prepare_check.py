"""Compiles all kernels anew, and compares them with those in the cache:  make prepare-check

A kernel in the cache that differs from the new one was kept although an edit changed it, so that the dependencies in
its name are incomplete. Kernels that the cache lacks are not compared."""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from screw_dynamics.jit.kernel_cache import store


def main() -> int:
    """Run the command line. Return 0 if all compared kernels are the same, 1 if some differ or none could be made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="all", help="as of python -m screw_dynamics.prepare")
    parts, kept = parser.parse_args().parts, store.own().path
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "screw_dynamics.prepare", "--parts", parts]
        if code := subprocess.run(command, env={**os.environ, "SCREW_DYNAMICS_CACHE_DIR": folder}).returncode:
            return code
        new = [*Path(folder).glob(f"*{store.SHARED_OBJECT}")]
        compared = [file for file in new if (kept / file.name).exists()]
        other = [file.name for file in compared if file.read_bytes() != (kept / file.name).read_bytes()]
    print(f"kernels compiled anew: {len(new)}; compared with those in {kept}: {len(compared)}; different: {len(other)}")
    print(*other, sep="\n", end="\n" * bool(other))
    return 1 if other or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
