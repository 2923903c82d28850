"""The texts by which fuzzing (make fuzz) reached what no other file of the tests does: only UrdfError comes out."""
import warnings
from pathlib import Path

import pytest

from screw_dynamics.description.urdf import UrdfError, UrdfWarning, read_urdf

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.urdf"))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_text_that_fuzzing_found_loads_or_is_a_urdf_error(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        try:
            read_urdf(path.read_bytes())
        except UrdfError as error:
            assert str(error)
