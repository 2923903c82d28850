"""Programs from the pages of the documentation, each as in an interpreter of its own: run in forks of one that has
imported what most of them import, since that takes longer than most of them."""
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

from support.paths import ROOT


class Interpreter:
    """Runs programs in a folder, after imports of these modules. A context: the process ends with the block."""

    def __init__(self, folder: Path, *modules: str):
        path = f"{ROOT}:{ROOT / 'test'}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.forked", *modules], cwd=folder, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.communicate()

    def run(self, program: str) -> str:
        """What a program prints, whose exit code must be 0."""
        with tempfile.TemporaryDirectory() as folder:
            streams = [Path(folder, name) for name in ("stdout", "stderr")]
            print(json.dumps([program, *map(str, streams)]), file=self._process.stdin, flush=True)
            code = self._process.stdout.readline()
            printed, errors = (path.read_text() for path in streams)
        assert int(code) == 0, errors
        return printed


def serve() -> None:
    """Fork for each line of the standard input, and print the exit codes."""
    os.environ["PYTHONPATH"] = str(ROOT)            # for what programs start
    sys.path.remove(str(ROOT / "test"))
    for line in sys.stdin:
        program, *streams = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(exit_code(program, streams))   # at once: to take down what was imported takes half a second
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def exit_code(program: str, streams: list[str]) -> int:
    """Run a program that writes to files."""
    for number, path in enumerate((os.devnull, *streams)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    main, code = ModuleType("__main__"), 0
    sys.modules["__main__"] = main
    try:
        if package := sys.modules.get("screw_dynamics"):
            warnings.simplefilter("error", package.LimitsWarning)       # pages do not show it
        exec(compile(program, "<page>", "exec"), vars(main))
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    for module in sys.argv[1:]:
        import_module(module)
    serve()
