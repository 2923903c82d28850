"""Files of tests that are left out as a whole, with the reason."""
import pytest


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
