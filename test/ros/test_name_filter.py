"""Which regular expressions choose names, and that none takes longer than a node has."""
import re
import time

import pytest

from screw_dynamics.ros.simulator.name_filter import matching

LONG = "a" * 100


@pytest.mark.parametrize("expression", [
    "", "^ball$", "ball_[0-9]+", "(ball|box)_.*", r"\*\+\?\{x*", "[]*+?{]a+", r"[\]*+{]a+", "(?P<a>x)b*", "(ab)+",
    "a{2}", "a*a*a*b", "(?P<x>x)b*", "(?:x)b", "(?i)BALL", "[(?#]x",
    "a.*|b.*|c.*|x.*x", "(a*)b(a*)", "a*?b", "(?:ball|box)_(?:1|2|3)[0-9]+?", "|".join("abcde" * 20)])
def test_what_is_found_is_what_python_finds(expression):
    found, start = matching("filter", expression), time.process_time()
    for name in ("ball", "ball_12", "box_a", "*+?{xx", "xbb", "abab", "aa", LONG):
        assert bool(found(name)) == bool(re.search(expression, name))
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize(("expression", "says"), [
    ("(a+)+$", "could take too long"), ("((a*)b)*", "too long"), ("(a|aa)+$", "a repeated group must contain none"),
    ("(?:a?){50}", "too long"), (r"\(?" * 30 + "x", "at most three of"), (r"[\]a]*(a+)+", "too long"),
    (".*.*.*.*x", "at most three of"), ("(a|aa)" * 24, "fewer with alternatives"),
    ("(?:|a)" * 40, "too long"), ("(a|a)a*a*a*b", "too long"),
    ("a*b*c*|d*e*f*", "fewer with alternatives"), ("(", "is not a regular expression: missing"),
    ("(?#[)(a|a)*b(?#])", r"has \(\?#: comments"), ("(?x)(#[\na|a)*b#]", "comments, which"),
    ("(?ix:(#[\na|a)*b#]\n)", "comments, which"), ("(?x)#)\na*", "comments, which"),
    ("a{1,99999999999}", "not a regular expression"), ("a" * 2000, "has 2000 characters, at most 1000")])
def test_what_could_hold_a_node_up_is_refused_by_name(expression, says):
    with pytest.raises(ValueError, match=f"^filter .*{says}"):
        matching("filter", expression)
