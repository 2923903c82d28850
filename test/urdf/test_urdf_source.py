"""Where a description may come from, as text, bytes or a file, and what of it is no matter to dynamics."""
import codecs
import io
import os
import re
from pathlib import Path

import pytest

from screw_dynamics import UrdfError, read_urdf
from screw_dynamics.description.urdf.source import LARGEST_SOURCE
from support.urdf_text import ONE_JOINT


# ------------------------------------------------------------------------------------------------- source
@pytest.mark.parametrize("source", [
    ONE_JOINT, ONE_JOINT.encode(), bytearray(ONE_JOINT.encode()), "\n\t " + ONE_JOINT, "\ufeff" + ONE_JOINT,
    codecs.BOM_UTF8 + ONE_JOINT.encode(), ONE_JOINT.encode("utf-16"), ONE_JOINT.encode("utf-16-be"),
    '\n  <?xml version="1.0" encoding="utf-16"?>\n' + ONE_JOINT,
    ('<?xml version="1.0" encoding="UTF-16"?>' + ONE_JOINT).encode("utf-16"),
    b'<?xml version="1.0" encoding="ISO-8859-1"?>' + ONE_JOINT.replace("'r'", "'\xe4'").encode("latin-1"),
    "<!-- <?xml?> -->" + ONE_JOINT,
    ONE_JOINT.replace("<robot", '<robot xmlns="http://example.org/robot"'),
], ids=range(13))
def test_text_in_any_guise_is_read(source):
    assert read_urdf(source).joint_names == ("j",)


def test_path_as_str_or_path_is_read(tmp_path):
    path = tmp_path / "one joint.urdf"
    path.write_text(ONE_JOINT)
    assert read_urdf(path).joint_names == read_urdf(str(path)).joint_names == ("j",)

    class BytesPath(os.PathLike):
        def __fspath__(self):
            return os.fsencode(path)

    assert read_urdf(BytesPath()).joint_names == ("j",)


def test_names_keep_their_letters():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + ONE_JOINT.replace('"j"', '"Gelenk_\xe4"')
    assert read_urdf(text.encode("latin-1")).joint_names == ("Gelenk_\xe4",)


@pytest.mark.parametrize("name", ["missing.urdf", ".", "no/such/folder.urdf", "nul\0.urdf", "x" * 5000])
def test_unreadable_path_is_named(tmp_path, name):
    with pytest.raises(UrdfError, match="not a file|readable file") as refusal:
        read_urdf(str(tmp_path / name))
    assert str(refusal.value).startswith(str(tmp_path / name))


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UrdfError, match="pipe: not a file"):
        read_urdf(tmp_path / "pipe")


def test_fault_in_a_file_is_reported_with_path_and_line(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text(ONE_JOINT.replace('mass value="1"', 'mass value="-1"'))
    with pytest.raises(UrdfError) as refusal:
        read_urdf(path)
    assert str(refusal.value) == f"{path}: line 3: link 'b': <inertial>: <mass>: value='-1' is negative"


@pytest.mark.parametrize("text, message", [
    ("", "the URDF is empty"), ("\ufeff \n", "the URDF is empty"), (b"", "the URDF is empty"),
    (ONE_JOINT.replace("'r'", "'\ud800'"), "line 1: text that UTF-8 cannot encode: surrogates not allowed"),
    (ONE_JOINT + " " * LARGEST_SOURCE, f"the URDF is larger than {LARGEST_SOURCE} bytes")], ids=range(5))
def test_text_that_is_none_is_refused(text, message):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(text)
    assert str(refusal.value) == message


# ------------------------------------------------------------------------------------------------- files and addresses
@pytest.mark.parametrize("file", [io.StringIO(ONE_JOINT), io.BytesIO(ONE_JOINT.encode("utf-16"))])
def test_an_open_file_is_read(file):
    assert read_urdf(file).joint_names == ("j",)


def test_faults_of_an_open_file_name_it(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text(ONE_JOINT.replace('mass value="1"', 'mass value="-1"'))
    with open(path) as file, pytest.raises(UrdfError, match=re.escape(f"{path}: line 3: link 'b'")):
        read_urdf(file)
    with open(path, "a") as file, pytest.raises(UrdfError, match=re.escape(f"{path}: not readable")):
        read_urdf(file)


def test_an_open_file_holds_text_and_no_path(tmp_path):
    path = tmp_path / "one.urdf"
    path.write_text(ONE_JOINT)
    with pytest.raises(UrdfError, match="not well-formed XML: Start tag expected"):
        read_urdf(io.StringIO(str(path)))


def test_an_open_file_is_read_no_further_than_the_limit():
    with open("/dev/zero", "rb") as file, pytest.raises(UrdfError, match="/dev/zero: the URDF is larger than"):
        read_urdf(file)


def test_an_open_file_of_neither_text_nor_bytes_is_refused():
    class Numbers:
        def read(self, size):
            return [1, 2]

    with pytest.raises(TypeError, match="source: read.. gives list, not str or bytes"):
        read_urdf(Numbers())


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A workspace with a package that has a robot, and a home folder that has it too."""
    folder = tmp_path / "share" / "arm_description" / "urdf"
    folder.mkdir(parents=True)
    for place in folder / "one joint.urdf", tmp_path / "one joint.urdf":
        place.write_text(ONE_JOINT)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    return tmp_path


ADDRESS = "package://arm_description/urdf/one joint.urdf"


@pytest.mark.parametrize("variable, value", [
    ("AMENT_PREFIX_PATH", "{0}"), ("AMENT_PREFIX_PATH", "/nowhere::{0}:/elsewhere"), ("ROS_PACKAGE_PATH", "{0}/share"),
    ("ROS_PACKAGE_PATH", "/nowhere:{0}/share/arm_description/")])
def test_a_package_address_is_looked_up_where_ros_has_packages(package, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value.format(package))
    # A Path makes package:/arm_description of it.
    for address in ADDRESS, Path(ADDRESS), ADDRESS.replace("/urdf/", "//urdf/"):
        assert read_urdf(address).joint_names == ("j",)


def test_the_first_prefix_overlays_the_others(package, monkeypatch):
    overlay = package / "overlay" / "share" / "arm_description" / "urdf"
    overlay.mkdir(parents=True)
    (overlay / "one joint.urdf").write_text(ONE_JOINT.replace('"j"', '"newer"'))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{package}/overlay:{package}")
    assert read_urdf(ADDRESS).joint_names == ("newer",)


def test_the_home_folder_and_file_addresses_are_read(package):
    path = package / "one joint.urdf"
    for source in "~/one joint.urdf", Path("~/one joint.urdf"), f"file://{path}", path.as_uri(), f"file:{path}":
        assert read_urdf(source).joint_names == ("j",)


@pytest.mark.parametrize("source, message", [
    (ADDRESS, f"{ADDRESS}: package 'arm_description' does not exist; searched are AMENT_PREFIX_PATH ('/nowhere') and "
              "ROS_PACKAGE_PATH (not set): source the workspace that has it, or give the path of the file"),
    ("package://../arm.urdf", "package '..' does not exist"), ("package://", "package '' does not exist"),
    ("https://example.org/arm.urdf", "https://example.org/arm.urdf: https:// addresses are not read: give a path, a "
                                     "file:// or package:// address, or XML text"),
    ("~/arm.urdf", "~/arm.urdf: neither XML text nor the path of a readable file (No such file or directory: {0}/arm."),
    ("arm.urdf", "arm.urdf: neither XML text nor the path of a readable file (No such file or directory: {1}/arm."),
])
def test_what_an_address_lacks_is_said(package, monkeypatch, source, message):
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    with pytest.raises(UrdfError) as refusal:
        read_urdf(source)
    assert message.format(package, os.getcwd()) in str(refusal.value)


def test_other_types_are_no_source():
    with pytest.raises(TypeError, match="source: a URDF is a path, XML text .str or bytes. or an open file, not int"):
        read_urdf(3)


# ------------------------------------------------------------------------------------------------- the rest of a URDF
@pytest.mark.parametrize("foreign, inside", [
    *((foreign, None) for foreign in (
        '<material name=""/>', "<transmission/>", '<gazebo reference="nowhere"><plugin filename="${x}"/></gazebo>',
        '<ros2_control type="system"/>', '<x:loop xmlns:x="http://example.org/x" x:link="a"/>', "text between elements",
        "<!-- a comment -->", "<?program run?>", "<![CDATA[<link/>]]>")),
    *(("", inside) for inside in (
        "<visual/>", "<visual><material/></visual>", "<collision/>", "<sensor/>",
        '<visual><geometry><mesh filename=""/></geometry><material name="m"><texture/></material></visual>'))])
def test_faults_outside_dynamics_and_of_shapes_are_ignored(foreign, inside, capfd):
    part = '<link name="a"/>' if inside is None else f'<link name="a" type="part">{inside}</link>'
    model = read_urdf(ONE_JOINT.replace('<link name="a"/>', part).replace("</robot>", foreign + "</robot>"))
    assert model.n == 1 and model.warnings == ()
    assert capfd.readouterr() == ("", "")
