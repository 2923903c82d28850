"""What is written is bounded, however much there is to say."""

from screw_dynamics.ros.node.log import LENGTH, LINES, PERIOD, BoundedLog


class Written:
    """A logger that keeps its lines."""

    def __init__(self):
        self.lines = []

    def __getattr__(self, severity):
        return lambda text: self.lines.append((severity, text))


def test_lines_are_bounded_in_number_and_the_next_says_how_many_were_left_out():
    now, written = [100.0], Written()
    log = BoundedLog(written, lambda: now[0])
    for i in range(1000):
        log.info(f"line {i}")
    assert written.lines == [("info", f"line {i}") for i in range(LINES)]
    log.error("of another severity")
    assert written.lines[-1] == ("error", "of another severity")
    now[0] += PERIOD
    log.info("later")
    assert written.lines[-1] == ("info", f"later ({1000 - LINES} lines like this were left out before)")
    log.info("again")
    assert written.lines[-1] == ("info", "again")


def test_a_line_of_a_long_text_shows_both_ends():
    written = Written()
    BoundedLog(written).warning("start" + 7_500_000 * "." + "end")
    (severity, line), = written.lines
    assert severity == "warning" and line.startswith("start") and line.endswith("end") and "7500008 characters" in line
    assert len(line) < LENGTH + 100


def test_text_from_outside_neither_acts_on_a_terminal_nor_passes_for_a_line_of_the_node():
    written = Written()
    BoundedLog(written).error("joint \x1b[2J\x07 \u202e is\r\n[INFO] all is well\tnow")
    (_, line), = written.lines
    assert line == "joint \\x1b[2J\\x07 \\u202e is\n  [INFO] all is well      now"
    BoundedLog(written).info("\N{GREEK SMALL LETTER TAU} = 1 N m")
    assert written.lines[-1][1] == "\N{GREEK SMALL LETTER TAU} = 1 N m"
