"""A simulator that compiles kernels for longer than the patience of a test is waited for: its log tells of progress."""
from types import SimpleNamespace

from screw_dynamics.testing.simulator import RobotSimulator


def test_lines_in_the_log_are_progress_while_a_robot_is_loaded(tmp_path):
    log, seen = tmp_path / "simulator.log", []
    log.write_text("")

    def wait(condition, what, progress):
        while not condition():
            seen.append(progress())
            log.write_text(log.read_text() + "compiling a kernel\n")

    answers = iter([False, False, False, True])
    simulator = RobotSimulator.__new__(RobotSimulator)
    simulator.folder = tmp_path
    simulator._driver = SimpleNamespace(
        wait=wait, ask=lambda *_, **__: SimpleNamespace(success=next(answers), message="loading robot_description"))
    simulator._load()
    assert len(set(seen)) == 3
