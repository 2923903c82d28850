"""setuptools, with what compiling kernels takes: a wheel contains machine code, made while it is built (setup.py).

A wheel needs the package's own requirements to be built, then. An editable install does not: it compiles nothing."""
import ast
import os
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

SETUP = Path(__file__).resolve().parents[1] / "setup.py"


def get_requires_for_build_wheel(config_settings=None):
    """What pip installs before it has a wheel built."""
    needed = build_meta.get_requires_for_build_wheel(config_settings)
    return needed if os.environ.get("SCREW_DYNAMICS_TARGETS") == "none" else [*needed, *requirements()]


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """An editable install by the checkout's path in a .pth file. The finder that setuptools installs by default comes
    after sys.path: a script beside the checkout would import its folder, as an empty namespace package."""
    settings = {"editable_mode": "compat", **(config_settings or {})}
    return build_meta.build_editable(wheel_directory, settings, metadata_directory)


def requirements():
    """What the package needs to run, as setup.py says, without running it."""
    for statement in ast.parse(SETUP.read_text()).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "RUN":
            return ast.literal_eval(statement.value)
    raise LookupError(f"{SETUP} does not assign RUN")
