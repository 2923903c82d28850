"""Settings for every test: this run's nodes hear only each other."""

import gc
import os

import pytest

from pytest_screw_dynamics import isolate
from support.oracle_report import pytest_terminal_summary, report  # noqa: F401  a hook and a fixture
from support.shared_memory import remove_what_was_left
from support.skipped import OptionalFile, skipped_file

# OpenBLAS's threads wait for each other longer than a small matrix takes. Before anything imports NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Before anything imports rclpy, and in the environment, so that node processes started by a test inherit it.
isolate()
pytest_plugins = ["pytest_screw_dynamics"]   # by its name as an entry point: where both are there it is loaded once


# A minute to five each, with slow tests, and hardly in parts: begun last they would end alone.
LONGEST = ("test_site.py", "test_pairs.py", "test_real_robots.py", "test_motion_under_forces.py", "test_dynamics.py",
           "test_readme.py", "test_armature.py", "test_gpu_robot.py", "test_convex_pairs.py", "test_quadrotor.py",
           "test_signals.py", "test_specialize.py", "test_dependencies.py", "test_each.py", "test_tutorials.py",
           "test_cache.py", "test_diagnostics.py", "test_pinocchio.py", "test_robot_simulator.py", "test_fit.py",
           "test_driven_loops.py")


def pytest_collection_modifyitems(config, items):
    """Mix the files that wait for nodes evenly with those that compute, after the longest: processors idle where all
    workers wait. A test of nodes that fails is run once more: if it passes then, the last lines list it, as RERUN."""
    files = list(dict.fromkeys(item.path for item in items))
    of_nodes = [path for path in files if path.parent.name == "ros"]
    place = {path: k / len(some) for some in (of_nodes, [path for path in files if path not in of_nodes])
             for k, path in enumerate(some)}
    items.sort(key=lambda item: (LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST),
                                 place[item.path]))
    if config.pluginmanager.has_plugin("rerunfailures"):
        for item in items:
            if item.path.parent.name == "ros":
                item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_sessionstart(session):
    """Remove what nodes that were killed have left in shared memory, once and not in each worker."""
    if not hasattr(session.config, "workerinput"):
        remove_what_was_left()


def pytest_sessionfinish(session):
    """As at the start: tests kill nodes."""
    pytest_sessionstart(session)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """The million objects of modules and tests live to the end: to look through them for cycles, again and again, takes
    a fifth of the time here, and a twelfth of that of the tests. The collector stays enabled: dask, imported here, has
    it for ever as it was then, and workers would grow by gigabytes."""
    thresholds = gc.get_threshold()
    gc.set_threshold(0)
    try:
        return (yield)
    finally:
        gc.set_threshold(*thresholds)
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(module_path, parent):
    """Files that need what is not installed are skipped where the environment is not that of tools/setup.

    The plugin of launch_testing, where that is installed, imports a file to see whether it launches something: one that
    skips itself, or cannot be imported, would take its whole folder with it."""
    try:
        module = yield
    except pytest.skip.Exception as skipped:
        return skipped_file(parent, module_path, str(skipped))
    except ModuleNotFoundError:
        module = None
    return OptionalFile.from_parent(parent, path=module_path) if type(module) in (type(None), pytest.Module) else module


# Kernels beside those of make setup that an everyday test may compile: two without which their packages have no such
# tests, riccati and derivatives of steps, and three that tests of nodes and commands compile in some orders of files.
IN_EVERYDAY_TESTS = {"riccati", "torque_regressor", "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
                     "derivatives of steps"}


@pytest.fixture(scope="session", autouse=True)
def compiling_little(pytestconfig):
    """Let a test fail that is not slow and compiles a kernel that `make setup` does not: one takes up to 30 s."""
    if pytestconfig.option.markexpr != "not slow":
        yield
        return
    from screw_dynamics.jit.kernel_cache import building

    build = building.build

    def build_if_few(form, name):
        from screw_dynamics import prepare

        known, ready = (set(prepare.forms(*parts)) for parts in (prepare.PARTS, (prepare.CORE,)))
        if form.name in known - ready - IN_EVERYDAY_TESTS:
            pytest.fail(f"a test that compiles {form.name} must be marked as slow: make setup compiles the part "
                        f"{prepare.CORE} alone")
        return build(form, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "build", build_if_few)
        yield


@pytest.fixture
def rng():
    """A generator of each test's own: its numbers do not depend on which tests ran before."""
    import numpy as np  # not before the environment is set

    return np.random.default_rng(1)
