"""docs/geometric_algorithms.md: its code runs, and says what the page says; its table is that of the study."""
import contextlib
import io
import re

import pytest

from support.paths import ROOT

PAGE = (ROOT / "docs/geometric_algorithms.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_code_of_the_page_prints_what_it_says():
    said = re.findall(r"^print\(.*# ([\w.]+)", "".join(BLOCKS), re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        exec("".join(BLOCKS), {})
    assert shown.getvalue().split() == said and len(said) == 4


@pytest.mark.slow
def test_numbers_and_picture_are_those_of_the_study(tmp_path):
    pytest.importorskip("matplotlib")
    from studies import curves
    assert curves.table() in PAGE
    inertia, of = curves.motions()
    for curve in of.values():
        assert f"{curves.energy(curve, inertia):.2f} J" in PAGE
    assert curves.draw(tmp_path / "curves.png").stat().st_size > 10_000
    assert f"({curves.IMAGE.relative_to('docs').as_posix()})" in PAGE and (ROOT / curves.IMAGE).is_file()
