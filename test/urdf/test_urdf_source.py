"""Where a description may come from, as text, bytes or a file, and what of it is no matter to dynamics."""
import codecs
import os

import pytest

from screw_dynamics import UrdfError, read_urdf
from screw_dynamics.urdf.source import LARGEST_SOURCE
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
    (ONE_JOINT.replace("'r'", "'\ud800'"), "line 1: not text: surrogates not allowed"),
    (ONE_JOINT + " " * LARGEST_SOURCE, f"the URDF is larger than {LARGEST_SOURCE} bytes")], ids=range(5))
def test_text_that_is_none_is_refused(text, message):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(text)
    assert str(refusal.value) == message


def test_other_types_are_no_source():
    with pytest.raises(TypeError, match="a path or XML text, not int"):
        read_urdf(3)


# ------------------------------------------------------------------------------------------------- the rest of a URDF
@pytest.mark.parametrize("foreign", [
    '<material name=""/>', "<transmission/>", '<gazebo reference="nowhere"><plugin filename="${x}"/></gazebo>',
    '<ros2_control type="system"/>', '<x:loop xmlns:x="http://example.org/x" x:link="a"/>', "text between elements",
    "<!-- a comment -->", "<?program run?>", "<![CDATA[<link/>]]>"])
def test_faults_outside_dynamics_are_ignored(foreign, capfd):
    model = read_urdf(ONE_JOINT.replace("</robot>", foreign + "</robot>"))
    assert model.n == 1 and model.warnings == ()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("inside", [
    "<visual/>", "<visual><material/></visual>", "<collision/>", "<sensor/>",
    '<visual><geometry><mesh filename=""/></geometry><material name="m"><texture/></material></visual>'])
def test_faults_of_shapes_are_ignored(inside, capfd):
    model = read_urdf(ONE_JOINT.replace('<link name="a"/>', f'<link name="a" type="part">{inside}</link>'))
    assert model.n == 1 and model.warnings == ()
    assert capfd.readouterr() == ("", "")
