"""The pytest plugin of screw_dynamics: tests of ROS 2 nodes against a simulated robot. docs/testing.md tells how.

Beside the package and not in it, since pytest imports its plugins at every start, and importing screw_dynamics takes
NumPy and most of the package. Nothing here imports more than pytest before a test asks for a fixture.
PYTEST_DONT_REWRITE, it asserts nothing.
"""

import shlex
from pathlib import Path

import pytest

CASES = 4                # of a test marked `campaign`, unless it or --campaign says how many
SIMULATORS = pytest.StashKey[list]()   # those that a test has started
CASE = pytest.StashKey[tuple]()         # that of a test marked `campaign`, and how many it has


def isolate() -> int:
    """`screw_dynamics.testing.isolate`: a DDS domain of this test run's own."""
    from screw_dynamics.testing import isolate

    return isolate()


def pytest_addoption(parser):
    """The options --robot-report, --campaign and --campaign-case."""
    group = parser.getgroup("screw_dynamics")
    group.addoption(
        "--robot-report", metavar="DIR", type=Path,
        help="folder for the pictures and logs of tests that fail with a robot_simulator (default: pytest's tmp_path)")
    group.addoption("--campaign", metavar="N", type=int,
                    help=f"cases of each test marked `campaign` (default: as many as its mark says, or {CASES})")
    group.addoption("--campaign-case", metavar="K", type=int, help="run this one of the cases alone, from 0 on")


def pytest_configure(config):
    """Register the mark, and refuse numbers that name no case."""
    config.addinivalue_line("markers", "campaign({parameter: range, choices or distribution}, cases=4, "
                            "design='latin_hypercube', seed=0): run the test with several values of parameters")
    count, case = config.getoption("--campaign"), config.getoption("--campaign-case")
    if count is not None and count < 1:
        raise pytest.UsageError(f"--campaign {count}: must be at least 1")
    if case is not None and (case < 0 or count is not None and case >= count):
        raise pytest.UsageError(f"--campaign-case {case}: must be from 0 on, and below --campaign")


def pytest_generate_tests(metafunc):
    """A test marked `campaign` is as many tests as it has cases."""
    mark = metafunc.definition.get_closest_marker("campaign")
    if mark is None:
        return
    if "campaign" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: a test marked campaign takes the fixture campaign, "
                                "which has the values of its parameters")
    count, case = metafunc.config.getoption("--campaign"), metafunc.config.getoption("--campaign-case")
    count = mark.kwargs.get("cases", CASES) if count is None else count
    if type(count) is not int or count < 1:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: mark campaign: cases {count!r} must be a whole number "
                                ">= 1")
    if case is not None and case >= count:
        raise pytest.UsageError(f"--campaign-case {case}: {metafunc.definition.nodeid} has {count} cases, from 0 on")
    cases = range(count) if case is None else [case]
    metafunc.parametrize("campaign", [(k, count) for k in cases], indirect=True, ids=[f"case{k}" for k in cases])


@pytest.fixture
def campaign(request):
    """A case of the test's mark `campaign`: the values of the parameters by name, `rng`, random numbers of its own, and
    `index`. The same seed and number of cases give the same values in every run."""
    mark = request.node.get_closest_marker("campaign")
    if mark is None or not hasattr(request, "param"):
        pytest.fail("the fixture campaign is for tests marked @pytest.mark.campaign({parameter: range or choices})",
                    pytrace=False)
    from screw_dynamics.recordings.campaigns.drawn import drawn

    index, count = request.param
    options = {name: value for name, value in mark.kwargs.items() if name != "cases"}
    try:
        found = drawn(*mark.args, count=count, index=index, **options)
    except (TypeError, ValueError) as error:
        pytest.fail(f"mark campaign: {error}", pytrace=False)
    request.node.stash[CASE] = found, count
    return found


@pytest.fixture(scope="session")
def ros_domain():
    """The DDS domain of this test run, its own: that of the environment from now on."""
    return isolate()


@pytest.fixture
def robot_simulator(ros_domain, request, tmp_path):
    """Starts simulated robots: robot_simulator(urdf, controllers, ...) is a `screw_dynamics.testing.RobotSimulator`,
    started, and closed when the test ends. Called again it starts another one."""
    try:
        from screw_dynamics.testing import RobotSimulator
    except ImportError as error:
        from screw_dynamics.ros.missing import advice

        if not (text := advice("robot_simulator", error)):
            raise
        pytest.fail(text, pytrace=False)
    started = request.node.stash.setdefault(SIMULATORS, [])

    def start(urdf, controllers=(), **options):
        options.setdefault("folder", tmp_path / f"robot_{len(started)}")
        simulator = RobotSimulator(urdf, controllers, **options)
        started.append(simulator)
        return simulator.start()

    yield start
    for simulator in reversed(started):
        simulator.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails shows what its robots did: a picture of the run, and the end of each log."""
    report = yield
    if report.failed and CASE in item.stash:
        found, count = item.stash[CASE]
        values = "\n".join(f"{name} = {value!r}" for name, value in found.values.items())
        again = f"python -m pytest {shlex.quote(item.nodeid)} --campaign {count} --campaign-case {found.index}"
        report.sections.append(("campaign", f"{values}\nto run this case again: {again}"))
    simulators = item.stash.get(SIMULATORS, [])
    if call.when != "call" or not report.failed or not simulators:
        return report
    from screw_dynamics.testing.failure import describe

    folder = item.config.getoption("--robot-report")
    pictures, text = describe(simulators, folder and folder / item.name.replace("/", "_"))
    report.sections.append(("robot simulator", text))
    html = item.config.pluginmanager.getplugin("html")
    if html is not None:
        import base64

        found = [html.extras.png(base64.b64encode(path.read_bytes()).decode()) for path in pictures]
        report.extras = [*getattr(report, "extras", []), *found]
    return report
