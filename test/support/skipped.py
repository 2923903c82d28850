"""Files of tests that are left out as a whole, with the reason."""
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SET_UP = Path(sys.prefix, "setup.json").is_file()       # the environment that tools/setup makes: it has everything


class SkippedFile(pytest.Module):
    """A file of tests that is not imported."""

    reason = ""

    def collect(self):
        pytest.skip(self.reason, allow_module_level=True)


def skipped_file(parent, path, reason):
    """In place of a file's module, when pytest collects it."""
    file = SkippedFile.from_parent(parent, path=path)
    file.reason = reason
    return file


class OptionalFile(pytest.Module):
    """A file of tests that is skipped where a library that it imports is missing, as on a ROS installation those that
    come by pip alone are."""

    def collect(self):
        try:
            return list(super().collect())
        except self.CollectError as error:
            name = missing(error.__cause__)
            if SET_UP or not name:
                raise
        pytest.skip(f"{name} is not installed", allow_module_level=True)


def missing(error):
    """The module, or the distribution, for want of which an import failed; "" where it is one of ours, or has failed
    otherwise."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    name = error.name.partition(".")[0]
    ours = Path(__file__).resolve().parents[2]
    found = find_spec(name)
    return "" if found is not None or (ours / name).exists() or (ours / "test" / name).exists() else name
