"""A launch argument overrides a parameter file, and that a default, in whatever sections: as rcl reads them."""
import pytest
import yaml
from rclpy.node import Node

from screw_dynamics.ros.parameter_files import around

USERS = {       # sections that a user may write for a node
    "/**": {"a": "user", "b": "user"}, "/**/screw_simulator": {"b": "special", "c": "special"},
    "screw_simulator": {"d": "special"}, "/left/screw_simulator": {"e": "special"}}


def parameters_of(files, namespace):
    """What a node gets from parameter files."""
    given = [part for file in files for part in ("--params-file", file)]
    arguments = ["--ros-args", "-r", f"__ns:={namespace}", *given]
    node = Node("screw_simulator", cli_args=arguments, automatically_declare_parameters_from_overrides=True)
    found = {name: node.get_parameter(name).value for name in node.get_parameters_by_prefix("") if len(name) == 1}
    node.destroy_node()
    return found


@pytest.mark.parametrize("namespace", ["/", "/left", "/left/arm"])
@pytest.mark.parametrize("sections", [*([name] for name in USERS), list(USERS), list(USERS)[::-1]], ids=str)
def test_a_value_wins_over_the_file_and_the_file_over_a_default(ros, tmp_path, sections, namespace):
    file = tmp_path / "user.yaml"
    file.write_text(yaml.safe_dump({name: {"ros__parameters": USERS[name]} for name in sections}, sort_keys=False))
    alone = parameters_of([str(file)], namespace)
    every = dict.fromkeys("abcdef", "default")
    assert parameters_of(around(str(file), every, {}), namespace) == every | alone
    values = dict.fromkeys("abcde", "launch")
    assert parameters_of(around(str(file), every, values), namespace) == every | values


def test_texts_stay_what_they_are(ros, tmp_path):
    """An empty text, one that YAML takes for a number or truth, and a description with all that XML has."""
    file = tmp_path / "user.yaml"
    file.write_text("{}\n")
    texts = {"a": "", "b": "1.0", "c": "yes", "d": "<a b='\"'>\n\t<!-- \u00e9 \\ # : -->{}</a>\n"}
    assert parameters_of(around(str(file), {}, texts), "/") == texts
    assert around(str(file), {}, {}) == [str(file)]
