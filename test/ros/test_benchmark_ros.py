"""The report of the nodes' benchmark, from made-up figures."""
import numpy as np

from benchmarks import ros
from benchmarks.ros_driver import Window
from benchmarks.ros_loop import summary


def test_rows_have_percentiles_of_all_windows_and_mark_what_misses_its_aim():
    def window(latency, lost=0):
        return Window(np.full(100, latency), lost, cpu=0.01)

    row = ros.row(1000, {ros.ECHO: [window(1e-3), window(3e-3)], ros.OURS: [window(1e-3), window(2e-3, lost=100)]})
    assert row[ros.ECHO] == {"p50": 2000.0, "p99": 3000.0, "max": 3000.0, "CPU": 100.0, "messages": 200, "lost": 0}
    assert np.isclose(row[ros.OURS]["CPU"], 0.02e6 / 300) and row[ros.OURS]["lost"] == 100
    assert np.isclose(row["ratio"]["p50"], 0.75) and np.isclose(row["ratio"]["p99"], 2 / 3)
    table = ros.latency_table([row])
    assert "0.75x" in table and "0.75x !" not in table and "100 !" in table


def test_a_loop_is_what_changed_between_two_looks_at_it():
    def look(time, steps, lost, heard):
        simulator = time, {
            "simulated time [s]": f"{steps / 1000}", "behind real time [s]": "0.5", "lost messages": "3"}
        dynamics = time, {"lost messages": str(lost)}
        return [simulator, dynamics], {"messages": heard, "lost": 0}, {"messages": heard, "lost": lost}

    names = ("simulator", "dynamics node", "relay", "listener")
    loop = summary(look(10.0, 0, 7, 0), look(20.0, 9990, 9, 10_000), dict.fromkeys(names, 0.25))
    assert np.isclose(loop["real-time factor"], 0.999) and loop["behind real time [s]"] == 0
    assert loop["lost"] == {"simulator": 0, "dynamics node": 2, "relay": 0, "listener": 2}
    assert np.isclose(loop["heard by the relay [Hz]"], 1000)
    assert "2 !" in ros.loop_table(loop) and "25%" in ros.loop_table(loop)
