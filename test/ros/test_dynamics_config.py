"""The files of config/ list the parameters that their nodes declare, no more and no fewer."""

import pytest
import yaml

from screw_dynamics.ros.dynamics.settings import SETTINGS
from support.paths import ROOT

CONFIG = ROOT / "config" / "dynamics.yaml"


def comment_above(name):
    """The comment above a parameter in the file."""
    lines = CONFIG.read_text().splitlines()
    end = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{name}:"))
    start = end
    while lines[start - 1].strip().startswith("#"):
        start -= 1
    return " ".join(line.strip("# ") for line in lines[start:end])


@pytest.mark.parametrize("name, module", [
    ("dynamics", "dynamics.settings"), ("markers", "view.markers_node"),
    pytest.param("view", "view.view_node", marks=pytest.mark.slow),
    pytest.param("recorder", "view.recorder_node", marks=pytest.mark.slow)])
def test_a_file_has_every_parameter_in_order_with_its_default(name, module):
    settings = pytest.importorskip(f"screw_dynamics.ros.{module}", exc_type=ImportError).SETTINGS
    values = yaml.safe_load((CONFIG.parent / f"{name}.yaml").read_text())[f"/**/screw_{name}"]["ros__parameters"]
    assert list(values) == [setting.name for setting in settings]
    for setting in settings:
        value = values[setting.name]
        assert (tuple(value) if isinstance(value, list) else value) == setting.default, setting.name


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_each_comment_has_unit_choices_and_range_and_says_what_can_change(setting):
    comment = comment_above(setting.name)
    assert len(comment) > 20
    if setting.unit:
        assert f"[{setting.unit}]" in comment
    for choice in setting.choices:
        assert f'"{choice}"' in comment
    if setting.upper is not None:
        assert f"{setting.lower:g} to {setting.upper:g}" in comment
    assert ("set while running" in comment.lower()) == (not setting.read_only)
