"""config/simulator.yaml against the table of parameters, and the table against the simulation's own defaults."""

from dataclasses import fields

import rclpy
import yaml
from rclpy.parameter import Parameter

import screw_dynamics as sd
from screw_dynamics.ros.simulator.settings import SETTINGS
from screw_dynamics.ros.simulator.trajectory_settings import GroupParameters
from screw_dynamics.simulator.settings import Settings
from support import planar_arm as arm
from support.paths import ROOT

CONFIG = ROOT / "config" / "simulator.yaml"


def test_yaml_has_every_parameter_with_its_default_and_unit():
    text = CONFIG.read_text()
    parameters = yaml.safe_load(text)["/**/screw_simulator"]["ros__parameters"]
    assert list(sorted(parameters)) == sorted(setting.name for setting in SETTINGS)
    for setting in SETTINGS:
        default = list(setting.default) if isinstance(setting.default, tuple) else setting.default
        assert parameters[setting.name] == default and type(parameters[setting.name]) is type(default), setting.name
        line = next(line for line in text.splitlines() if line.strip().startswith(f"{setting.name}:"))
        assert "#" in line
        if setting.unit not in ("", "1"):
            assert setting.unit in line, line


def test_yaml_says_what_can_change_at_run_time():
    opening = CONFIG.read_text().partition("/**")[0]
    for setting in SETTINGS:
        assert setting.read_only == (setting.name not in opening), setting.name


def test_parameters_and_simulation_have_the_same_defaults():
    defaults = {setting.name: setting.default for setting in SETTINGS}
    for field in fields(Settings):
        assert defaults[field.name] == field.default, field.name


def test_every_parameter_says_what_it_is():
    for setting in SETTINGS:
        assert setting.description


def test_the_joints_of_a_group_are_those_named_that_have_a_coordinate_in_the_order_named(ros):
    named = Parameter("arm.joints", value=["elbow", "finger", "knee", "shoulder"])
    node, model = rclpy.create_node("grouped", parameter_overrides=[named]), sd.read_urdf(arm.urdf())
    groups = GroupParameters(node, ["arm", "all"])
    assert groups.joints("arm", model) == ("elbow", "shoulder") and groups.left_out("arm", model) == ["finger", "knee"]
    assert groups.joints("all", model) == ("shoulder", "elbow") and groups.left_out("all", model) == []
    node.destroy_node()
