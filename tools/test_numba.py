"""Runs tests of the core with the oldest and the newest Numba that the package is tested with, or with versions given.

    python tools/test_numba.py [0.58 0.68 ...]

Each has an environment of its own in build/numba, which pip fills from the index that it is configured for; what is
there is not made again. PYTHON=... in the environment names the interpreter: Numba 0.58 has wheels up to 3.11."""

import os
import re
import subprocess
import sys
from pathlib import Path

from build_backend import requirements
from progress import StepFailed, run

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "numba"
LOG = BUILD / "log"
TESTED = ROOT / "screw_dynamics" / "jit" / "numba_internals" / "tested.py"
# What the tests import beside the package's requirements; of the robots their files alone.
TESTING, FILES = ("pytest>=8", "pytest-timeout>=2.3", "mpmath", "pyyaml", "sympy"), ("example-robot-data",)
# A quarter of an hour on an idle core: every kernel is compiled, by both ways of compiling.
TESTS = [
    "test/numba_internals",
    "test/numbers/test_linking.py",
    "test/numbers/test_lanes.py",
    "test/numbers/test_memory.py",
    "test/numbers/test_values.py",
    "test/compiled/test_user_code.py",
    "test/compiled/test_tiles.py",
    "test/compiled/test_cache.py::test_code_is_compiled_once",
    "test/compiled/test_cache.py::test_several_threads_may_ask_at_once",
    "test/compiled/test_shared_objects.py",
    "test/compiled/test_batch.py::test_a_state_that_is_not_finite_spoils_no_other",
    "test/algorithms/test_closed_form.py",
    "test/rollout/test_controllers.py::test_controllers_that_several_processes_compiled_are_not_mixed_up",
    "test/rollout/test_controllers.py::test_without_numba_s_internals_controllers_lead_to_the_same_ends",
    *(f"test/rollout/test_rollout.py::test_a_state_moves_in_a_batch_as_alone[tree-{integrator}]"
      for integrator in ("semi_implicit_euler", "rk4")),
]


def ends():
    """The oldest and the newest version, as '0.58', by the file that says so; this Python may have no Numba."""
    line = re.search(r"^OLDEST, NEWEST = \((\d+), (\d+)\), \((\d+), (\d+)\)", TESTED.read_text(), re.MULTILINE)
    return f"{line[1]}.{line[2]}", f"{line[3]}.{line[4]}"


def environment_of(version):
    """The interpreter of an environment that has this Numba, made unless it is there."""
    folder, python = BUILD / version, os.environ.get("PYTHON") or sys.executable
    needed = [text for text in requirements() if not text.startswith("numba")] + [f"numba=={version}.*"]
    mark, wanted = folder / "installed", " ".join([python, *needed, *TESTING, *FILES])
    if not mark.is_file() or mark.read_text() != wanted:
        print(f"==> Making an environment with Numba {version}", flush=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
               "--progress-bar", "off"]
        run([python, "-m", "venv", "--clear", folder], dict(os.environ), LOG)
        run([*pip, *needed, *TESTING], dict(os.environ), LOG)
        run([*pip, "--no-deps", *FILES], dict(os.environ), LOG)
        mark.write_text(wanted)
    return folder / "bin" / "python"


def main():
    """Run the tests with each version, whatever comes of the others; 1 if any fails."""
    BUILD.mkdir(parents=True, exist_ok=True)
    failed = []
    for version in sys.argv[1:] or ends():
        try:
            python = environment_of(version)
        except StepFailed as failure:
            sys.exit(f"{failure}. PYTHON chooses another interpreter; the whole output is in {LOG.relative_to(ROOT)}.")
        print(f"==> Running tests with Numba {version}", flush=True)
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'test'}", "OPENBLAS_NUM_THREADS": "1",
                       "SCREW_DYNAMICS_CACHE_DIR": str(BUILD / f"cache_{version}")}
        tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "slow or not slow", *TESTS]
        if subprocess.run(tests, cwd=ROOT, env=environment).returncode:
            failed.append(version)
    if failed:
        sys.exit(f"Tests failed with Numba {', '.join(failed)}.")


if __name__ == "__main__":
    main()
