"""Faulty descriptions: SOUND with one fault each, by name, and what reading it must come to.

A row of REFUSED or ODD is what is replaced and by what, once or several times, and then the message: of the UrdfError
that it gets, or the warnings, joined by " | ", with which it loads, since its fault leaves dynamics defined.
"""
import gzip
import random
from itertools import pairwise

SOUND = """\
<robot name="sound">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <link name="hand"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0 0 1" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="wrist" type="continuous">
    <parent link="arm"/>
    <child link="hand"/>
    <axis xyz="1 0 0"/>
    <mimic joint="shoulder" multiplier="2" offset="0"/>
  </joint>
</robot>
"""
BASE = '<link name="base"/>'
MASS = '<mass value="2"/>'
INERTIA = '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/>'
SHOULDER = '<joint name="shoulder" type="revolute">'
PARENT = '<parent link="base"/>'
ORIGIN = '<origin xyz="0 0 1" rpy="0 0 0"/>'
AXIS = '<axis xyz="0 0 1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'
DYNAMICS = '<dynamics damping="0.1" friction="0.2"/>'
WRIST = '<joint name="wrist" type="continuous">'
MIMIC = '<mimic joint="shoulder" multiplier="2" offset="0"/>'
HAND = '<link name="hand"/>'
ROBOT = '<robot name="sound">'
END = "</robot>"
FORE = '<parent link="arm"/>'
PALM = '<child link="hand"/>'

DTD = "line 1: a document type (DTD) is not allowed, nor are entities"
TYPES = "must be one of revolute, continuous, prismatic, fixed, floating, planar"
XACRO = "unexpanded xacro: run xacro on the file first"
FREE = ("joint moves no inertia, forward dynamics is singular: 'wrist' | "
        "mimic of a joint that does not exist, taken as free: ")
LAUGHS = "".join(f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in pairwise("abcdefghij"))


def declared(encoding):
    """The declaration of an encoding."""
    return f'<?xml version="1.0" encoding="{encoding}"?>\n'


BYTES = {       # what no text has: bytes, message
    "bytes_ebcdic": ((declared("cp037") + SOUND).encode("cp037"),
        "line 1: not utf-8 text: byte 0xa7 (invalid start byte)"),
    "bytes_empty": (b"", "the URDF is empty"),
    "bytes_gzip": (gzip.compress(SOUND.encode(), mtime=0), "line 1: not utf-8 text: byte 0x8b (invalid start byte)"),
    "bytes_latin_as_utf8": (SOUND.replace("base", "b\xe4se").encode("latin-1"),
        "line 2: not utf-8 text: byte 0xe4 (invalid continuation byte)"),
    "bytes_only_a_mark": (b"\xef\xbb\xbf", "the URDF is empty"),
    "bytes_plain_text": (b"robot: arm with two joints\n",
        "line 1: not well-formed XML: Start tag expected, '<' not found"),
    "bytes_rubbish": (b"D\x82" + random.Random(0).randbytes(498),
        "line 1: not utf-8 text: byte 0x82 (invalid start byte)"),
    "bytes_unknown_encoding": ((declared("x-robot") + SOUND).encode(),
        "encoding 'x-robot' is not supported: save the file as UTF-8"),
    "bytes_utf16_dtd": ((declared("UTF-16") + '<!DOCTYPE robot [<!ENTITY m "2">]>\n' + SOUND).encode("utf-16"),
        "line 2: a document type (DTD) is not allowed, nor are entities"),
    "bytes_utf16_truncated": (SOUND.encode("utf-16")[:-1],
        "line 25: not utf-16-le text: byte 0x0a (truncated data)"),
    "bytes_utf32": (SOUND.encode("utf-32"), "line 1: not well-formed XML: Document is empty"),
    "bytes_utf7_dtd": ((declared("UTF-7") + "+ADw-!DOCTYPE robot>\n" + SOUND).encode(),
        "encoding 'UTF-7' is not supported: save the file as UTF-8"),
    "bytes_utf8_declared_utf16": ((declared("UTF-16") + SOUND).encode(),
        "encoding 'UTF-16' is declared, but the text is not UTF-16"),
    "bytes_white_space": (b" \n\t\n", "the URDF is empty"),
    "bytes_zeros": (bytes(300), "line 1: not well-formed XML: Document is empty"),
}

REFUSED = {
    "axis_infinite": (AXIS, '<axis xyz="0 0 inf"/>',
        "line 15: joint 'shoulder': <axis>: xyz='0 0 inf' is not finite: 'inf'"),
    "axis_nan": (AXIS, '<axis xyz="0 nan 1"/>',
        "line 15: joint 'shoulder': <axis>: xyz='0 nan 1' is not finite: 'nan'"),
    "axis_tiny": (AXIS, '<axis xyz="0 1e-12 0"/>', "line 11: joint 'shoulder': axis 0 1e-12 0 has no direction"),
    "axis_twice": (AXIS, AXIS + '<axis xyz="0 1 0"/>', "line 15: joint 'shoulder': a second <axis>, unlike the first"),
    "axis_two_numbers": (AXIS, '<axis xyz="0 1"/>',
        "line 15: joint 'shoulder': <axis>: xyz='0 1' has 2 numbers, not 3"),
    "axis_without_xyz": (AXIS, "<axis/>", "line 15: joint 'shoulder': <axis>: attribute 'xyz' is missing"),
    "axis_zero": (AXIS, '<axis xyz="0 0 0"/>', "line 11: joint 'shoulder': axis 0 0 0 has no direction"),
    "document_attribute_twice": (MASS, '<mass value="2" value="3"/>',
        "line 6: not well-formed XML: Attribute value redefined"),
    "document_attribute_without_quotes": (MASS, "<mass value=2/>",
        'line 6: not well-formed XML: AttValue: " or \' expected'),
    "document_control_character": (BASE, '<link name="ba\x01se"/>',
        "line 2: not well-formed XML: invalid character in attribute value"),
    "document_crossed_tags": ('</inertial>\n  </link>', '</link>\n  </inertial>',
        "line 8: not well-formed XML: Opening and ending tag mismatch: inertial line 4 and link"),
    "document_declaration_not_closed": (ROBOT, '<?xml version="1.0"\n' + ROBOT,
        "line 2: not well-formed XML: parsing XML declaration: '?>' expected"),
    "document_empty_robot": (SOUND, '<robot name="empty"/>\n', "line 1: robot: there is no <link>"),
    "document_hyphens_in_comment": (ROBOT, ROBOT + "<!-- base -- the first -->",
        "line 1: not well-formed XML: Double hyphen within comment: <!-- base"),
    "document_joints_only": (SOUND, ROBOT + SOUND[SOUND.index(WRIST):], "line 1: robot: there is no <link>"),
    "document_less_than_in_value": (BASE, '<link name="<base"/>',
        "line 2: not well-formed XML: Unescaped '<' not allowed in attributes values"),
    "document_mjcf": (SOUND, '<mujoco model="arm">\n  <worldbody/>\n</mujoco>\n',
        "line 1: the root element is 'mujoco', not 'robot': this is MJCF (MuJoCo), for from_mjcf"),
    "document_not_a_robot": (ROBOT, '<machine name="sound">', END, "</machine>",
        "line 1: the root element is 'machine', not 'robot'"),
    "document_only_a_comment": (SOUND, "<!-- nothing -->",
        "line 1: not well-formed XML: Start tag expected, '<' not found"),
    "document_prefix_undeclared_and_crossed_tags": (BASE, '<sensor:camera/><link name="base"></joint>',
        "line 2: not well-formed XML: Opening and ending tag mismatch: link line 2 and joint"),
    "document_sdf": (SOUND, '<sdf version="1.7">\n  <model name="arm"/>\n</sdf>\n',
        "line 1: the root element is 'sdf', not 'robot': this is SDF"),
    "document_truncated": (SOUND, SOUND[:SOUND.index(AXIS) + len('<axis xyz=')],
        'line 15: not well-formed XML: AttValue: " or \' expected'),
    "document_two_roots_elements": (END, "</robot>\n" + SOUND,
        "line 26: not well-formed XML: Extra content at the end of the document"),
    "document_unclosed_link": ("</link>", "",
        "line 25: not well-formed XML: Opening and ending tag mismatch: link line 3 and robot"),
    "document_unknown_entity": (BASE, '<link name="&base;"/>',
        "line 2: not well-formed XML: Entity 'base' not defined"),
    "document_version_2": (ROBOT, '<robot name="sound" version="2.0">',
        "line 1: robot: version='2.0' is not supported, 1.0 is"),
    "document_version_rubbish": (ROBOT, '<robot name="sound" version="latest">',
        "line 1: robot: version='latest' is not supported, 1.0 is"),
    "dynamics_infinite_damping": (DYNAMICS, '<dynamics damping="-inf" friction="0.2"/>',
        "line 17: joint 'shoulder': <dynamics>: damping='-inf' is not finite: '-inf'"),
    "dynamics_negative_damping": (DYNAMICS, '<dynamics damping="-0.1" friction="0.2"/>',
        "line 17: joint 'shoulder': <dynamics>: damping='-0.1' is negative"),
    "dynamics_negative_friction": (DYNAMICS, '<dynamics damping="0.1" friction="-0.2"/>',
        "line 17: joint 'shoulder': <dynamics>: friction='-0.2' is negative"),
    "hostile_billion_laughs": (ROBOT, '<!DOCTYPE robot [<!ENTITY a "lol">' + LAUGHS + "]>" + ROBOT, BASE,
        '<link name="base">&j;</link>', DTD),
    "hostile_dtd_after_comment_in_instruction": (ROBOT,
        '<?style <!-- ?><!DOCTYPE robot [<!ENTITY m "2">]><!-- -->' + ROBOT, DTD),
    "hostile_dtd_after_comments": (ROBOT, "<?style none?><!-- harmless --><!DOCTYPE robot>" + ROBOT, DTD),
    "hostile_dtd_within": (ROBOT, ROBOT + '<!DOCTYPE robot [<!ENTITY m "2">]>', DTD),
    "hostile_entity_in_attribute": (ROBOT, '<!DOCTYPE robot [<!ENTITY m "2">]>' + ROBOT, MASS, '<mass value="&m;"/>',
        DTD),
    "hostile_external_dtd": (ROBOT, '<!DOCTYPE robot SYSTEM "http://localhost:9/robot.dtd">' + ROBOT, DTD),
    "hostile_external_entity": (ROBOT, '<!DOCTYPE robot [<!ENTITY secret SYSTEM "file:///etc/passwd">]>' + ROBOT, BASE,
        '<link name="base">&secret;</link>', DTD),
    "hostile_parameter_entity": (ROBOT,
        '<!DOCTYPE robot [<!ENTITY % other SYSTEM "http://localhost:9/other.dtd"> %other;]>' + ROBOT, DTD),
    "inertia_missing": (INERTIA, "", "line 4: link 'arm': <inertial>: <inertia> is missing"),
    "inertia_nan": (INERTIA, '<inertia ixx="0.2" ixy="0" ixz="NaN" iyy="0.2" iyz="0" izz="0.1"/>',
        "line 7: link 'arm': <inertial>: <inertia>: ixz='NaN' is not finite: 'NaN'"),
    "inertia_negative_moment": (INERTIA, '<inertia ixx="0.2" ixy="0" ixz="0" iyy="-0.2" iyz="0" izz="0.1"/>',
        "line 3: link 'arm': iyy -0.2 is negative"),
    "inertia_without_izz": (INERTIA, '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0"/>',
        "line 7: link 'arm': <inertial>: <inertia>: attribute 'izz' is missing"),
    "inertia_without_products": (INERTIA, '<inertia ixx="0.2" iyy="0.2" iyz="0" izz="0.1"/>',
        "line 7: link 'arm': <inertial>: <inertia>: attribute 'ixy' is missing"),
    "inertia_word": (INERTIA, '<inertia ixx="0.2" ixy="0" ixz="none" iyy="0.2" iyz="0" izz="0.1"/>',
        "line 7: link 'arm': <inertial>: <inertia>: ixz='none' is not a number: 'none'"),
    "inertial_twice": (MASS, MASS + INERTIA + '</inertial><inertial><mass value="1"/>',
        "line 6: link 'arm': a second <inertial>, unlike the first"),
    "joint_parent_case_differs": (PARENT, '<parent link="Base"/>',
        "line 11: joint 'shoulder': parent link 'Base' does not exist"),
    "joint_parent_is_child": (FORE, '<parent link="hand"/>',
        "line 19: joint 'wrist': link 'hand' is its parent and its child"),
    "joint_parent_without_link": (PARENT, '<parent name="base"/>',
        "line 12: joint 'shoulder': <parent>: attribute 'link' is missing"),
    "joint_twice": (HAND, HAND + '<link name="finger"/>', END,
        WRIST + '<parent link="hand"/><child link="finger"/>' + MIMIC + "</joint></robot>",
        "line 25: a second joint is called 'wrist', the first is in line 19"),
    "joint_two_parents_elements": (FORE, FORE + PARENT, "line 20: joint 'wrist': a second <parent>, unlike the first"),
    "joint_type_in_capitals": (SHOULDER, '<joint name="shoulder" type="Revolute">',
        "line 11: joint 'shoulder': type='Revolute' " + TYPES),
    "joint_type_unknown": (SHOULDER, '<joint name="shoulder" type="unknown">',
        "line 11: joint 'shoulder': type='unknown' " + TYPES),
    "joint_unknown_child": (PALM, '<child link="hands"/>', "line 19: joint 'wrist': child link 'hands' does not exist"),
    "joint_unknown_parent": (PARENT, '<parent link="bass"/>',
        "line 11: joint 'shoulder': parent link 'bass' does not exist"),
    "joint_unknown_type": (SHOULDER, '<joint name="shoulder" type="hinge">',
        "line 11: joint 'shoulder': type='hinge' " + TYPES),
    "joint_with_empty_name": (SHOULDER, '<joint name="" type="revolute">', "line 11: <joint>: name='' is blank"),
    "joint_without_child": (PALM, "", "line 19: joint 'wrist': <child> is missing"),
    "joint_without_name": (SHOULDER, '<joint type="revolute">', "line 11: <joint>: attribute 'name' is missing"),
    "joint_without_parent": (PARENT, "", "line 11: joint 'shoulder': <parent> is missing"),
    "joint_without_type": (SHOULDER, '<joint name="shoulder">',
        "line 11: joint 'shoulder': attribute 'type' is missing"),
    "link_twice": ("</link>", '</link><link name="hand"/>',
        "line 10: a second link is called 'hand', the first is in line 9"),
    "link_with_blank_name": (BASE, '<link name="  "/>', "line 2: link '  ': name='  ' is blank"),
    "link_with_empty_name": (BASE, '<link name=""/>', "line 2: <link>: name='' is blank"),
    "link_with_two_parents": (END, '<joint name="brace" type="fixed">' + PARENT + PALM + "</joint></robot>",
        "line 19: link 'hand' has two parents: it is the child of joint 'brace' and of joint 'wrist'"),
    "link_without_name": (BASE, "<link/>", "line 2: <link>: attribute 'name' is missing"),
    "mass_as_text": (MASS, "<mass>2</mass>", "line 6: link 'arm': <inertial>: <mass>: attribute 'value' is missing"),
    "mass_infinite": (MASS, '<mass value="Infinity"/>',
        "line 6: link 'arm': <inertial>: <mass>: value='Infinity' is not finite: 'Infinity'"),
    "mass_missing": (MASS, "", "line 4: link 'arm': <inertial>: <mass> is missing"),
    "mass_nan": (MASS, '<mass value="nan"/>',
        "line 6: link 'arm': <inertial>: <mass>: value='nan' is not finite: 'nan'"),
    "mass_negative": (MASS, '<mass value="-2"/>', "line 6: link 'arm': <inertial>: <mass>: value='-2' is negative"),
    "mass_twice": (MASS, MASS + '<mass value="3"/>',
        "line 6: link 'arm': <inertial>: a second <mass>, unlike the first"),
    "mass_two_numbers": (MASS, '<mass value="2 3"/>',
        "line 6: link 'arm': <inertial>: <mass>: value='2 3' has 2 numbers, not 1"),
    "mass_without_value": (MASS, "<mass/>", "line 6: link 'arm': <inertial>: <mass>: attribute 'value' is missing"),
    "mass_word": (MASS, '<mass value="heavy"/>',
        "line 6: link 'arm': <inertial>: <mass>: value='heavy' is not a number: 'heavy'"),
    "mimic_fixed": (SHOULDER, '<joint name="shoulder" type="fixed">',
        "line 19: joint 'wrist': mimic of joint 'shoulder', which is fixed"),
    "mimic_infinite_multiplier": (MIMIC, '<mimic joint="shoulder" multiplier="inf" offset="0"/>',
        "line 23: joint 'wrist': <mimic>: multiplier='inf' is not finite: 'inf'"),
    "mimic_itself": (MIMIC, '<mimic joint="wrist" multiplier="2" offset="0"/>',
        "line 19: joint 'wrist': mimic of joint 'wrist', which is itself"),
    "mimic_loop": (LIMIT, LIMIT + '<mimic joint="wrist"/>',
        "line 11: joint 'shoulder': mimic in a loop of 'shoulder', 'wrist'"),
    "mimic_multiplier_word": (MIMIC, '<mimic joint="shoulder" multiplier="twice" offset="0"/>',
        "line 23: joint 'wrist': <mimic>: multiplier='twice' is not a number: 'twice'"),
    "mimic_nan_offset": (MIMIC, '<mimic joint="shoulder" multiplier="2" offset="nan"/>',
        "line 23: joint 'wrist': <mimic>: offset='nan' is not finite: 'nan'"),
    "mimic_without_joint": (MIMIC, '<mimic multiplier="2" offset="0"/>',
        "line 23: joint 'wrist': <mimic>: attribute 'joint' is missing"),
    "origin_absurd": (ORIGIN, '<origin xyz="0 0 1e200" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 1e200' is out of range: '1e200'"),
    "origin_commas": (ORIGIN, '<origin xyz="0,0,1" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0,0,1' is not a number: '0,0,1'"),
    "origin_decimal_comma": (ORIGIN, '<origin xyz="0 0 1,5" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 1,5' is not a number: '1,5'"),
    "origin_empty": (ORIGIN, '<origin xyz="" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='' has 0 numbers, not 3"),
    "origin_four_numbers": (ORIGIN, '<origin xyz="0 0 1" rpy="0 0 0 1"/>',
        "line 14: joint 'shoulder': <origin>: rpy='0 0 0 1' has 4 numbers, not 3"),
    "origin_fullwidth_digits": (ORIGIN, '<origin xyz="0 0 １" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 １' is not a number: '１'"),
    "origin_hexadecimal": (ORIGIN, '<origin xyz="0 0 0x10" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 0x10' is not a number: '0x10'"),
    "origin_minus_nan": (ORIGIN, '<origin xyz="0 0 -NaN" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 -NaN' is not finite: '-NaN'"),
    "origin_overflow": (ORIGIN, '<origin xyz="0 0 1e999" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 1e999' is out of range: '1e999'"),
    "origin_quaternion": (ORIGIN, '<origin xyz="0 0 1" quat_xyzw="0 0 0 1"/>',
        "line 14: joint 'shoulder': <origin>: quat_xyzw='0 0 0 1' is not supported, rpy is"),
    "origin_twice": (ORIGIN, ORIGIN + '<origin xyz="0 0 2"/>',
        "line 14: joint 'shoulder': a second <origin>, unlike the first"),
    "origin_two_numbers": (ORIGIN, '<origin xyz="0 1" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 1' has 2 numbers, not 3"),
    "origin_underscore": (ORIGIN, '<origin xyz="0 0 1_0" rpy="0 0 0"/>',
        "line 14: joint 'shoulder': <origin>: xyz='0 0 1_0' is not a number: '1_0'"),
    "origin_unit": (ORIGIN, '<origin xyz="0 0 1" rpy="0 0 90deg"/>',
        "line 14: joint 'shoulder': <origin>: rpy='0 0 90deg' is not a number: '90deg'"),
    "tree_joint_commented_out": (WRIST, '<!--<joint name="wrist" type="continuous">', END, "-->" + END,
        "there are 2 root links, which are no joint's child: 'base', 'hand'"),
    "tree_loop_beside_root": (PARENT, '<parent link="hand"/>',
        "links in a loop, not connected with the root 'base': 'arm', 'hand'"),
    "tree_loop_only": (BASE, "", PARENT, '<parent link="hand"/>',
        "there is no root link, every link is a joint's child: a loop of 'arm', 'hand'"),
    "tree_two_roots": (HAND, HAND + '<link name="table"/>',
        "there are 2 root links, which are no joint's child: 'base', 'table'"),
    "tree_two_trees": (END,
        '<link name="cart"/><link name="pole"/><joint name="hinge" type="fixed"><parent link="cart"/>'
        '<child link="pole"/></joint></robot>',
        "there are 2 root links, which are no joint's child: 'base', 'cart'"),
    "xacro_argument_in_name": (BASE, '<link name="$(arg prefix)base"/>',
        "line 2: link '$(arg prefix)base': name='$(arg prefix)base' is " + XACRO),
    "xacro_element": (ROBOT,
        '<robot name="sound" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="2"/>',
        "line 1: <xacro:property> is " + XACRO),
    "xacro_element_undeclared": (BASE, BASE + '<xacro:arm side="left"/>',
        "line 2: not well-formed XML: this is " + XACRO + " (Namespace prefix xacro on arm is not defined)"),
    "xacro_expression": (MASS, '<mass value="${arm_mass}"/>',
        "line 6: link 'arm': <inertial>: <mass>: value='${arm_mass}' is " + XACRO),
}

ODD = {
    "doctype_in_cdata": (ROBOT, ROBOT + "<gazebo><![CDATA[<!DOCTYPE html>]]></gazebo>", ""),
    "doctype_in_comment": (ROBOT, ROBOT + "<!-- <!DOCTYPE robot> -->", ""),
    "document_prefix_undeclared": (BASE, BASE + "<gazebo><sensor:camera/></gazebo>", ""),
    "fixed_joint_with_a_faulty_axis_and_limit": (WRIST, '<joint name="wrist" type="fixed">', '<axis xyz="1 0 0"/>',
        '<axis xzy="0 0 0"/>', MIMIC, '<limit lower="word"/>', ""),
    "inertia_in_other_units": (INERTIA, '<inertia ixx="10000" ixy="0" ixz="0" iyy="10000" iyz="0" izz="10000"/>',
        "inertia much too large for the mass, are both in kg and m?: '10000 kg m^2 on 2 kg in arm'"),
    "inertial_origin_in_degrees": ('<origin xyz="0 0 0.5" rpy="0 0 0"/>', '<origin xyz="0 0 0.5" rpy="0 0 -180"/>',
        "rpy of more than a turn, is it in degrees?: '0 0 -180 in arm'"),
    "limit_empty": (LIMIT, '<limit lower="-1" upper="1" effort="" velocity="2"/>',
        "limit negative or not a finite number, taken as no limit: 'effort= in shoulder'"),
    "limit_in_degrees": (LIMIT, '<limit lower="-90" upper="120" effort="10" velocity="2"/>',
        "limit of more than two turns, is it in degrees?: 'lower=-90 upper=120 in shoulder'"),
    "limit_infinite": (LIMIT, '<limit lower="-1" upper="inf" effort="10" velocity="2"/>',
        "limit negative or not a finite number, taken as no limit: 'upper=inf in shoulder'"),
    "limit_lower_above_default_upper": (LIMIT, '<limit lower="1" effort="10" velocity="2"/>',
        "limit lower above upper, taken as no limit: 'lower=1 upper=0 in shoulder'"),
    "limit_lower_above_upper": (LIMIT, '<limit lower="1" upper="-1" effort="10" velocity="2"/>',
        "limit lower above upper, taken as no limit: 'lower=1 upper=-1 in shoulder'"),
    "limit_missing_prismatic": (SHOULDER, '<joint name="shoulder" type="prismatic">', LIMIT, "",
        "limit missing, taken as no limit: 'shoulder'"),
    "limit_missing_revolute": (LIMIT, "", "limit missing, taken as no limit: 'shoulder'"),
    "limit_nan": (LIMIT, '<limit lower="-1" upper="1" effort="nan" velocity="2"/>',
        "limit negative or not a finite number, taken as no limit: 'effort=nan in shoulder'"),
    "limit_negative_effort": (LIMIT, '<limit lower="-1" upper="1" effort="-10" velocity="2"/>',
        "limit negative or not a finite number, taken as no limit: 'effort=-10 in shoulder'"),
    "limit_negative_velocity": (LIMIT, '<limit lower="-1" upper="1" effort="10" velocity="-2"/>',
        "limit negative or not a finite number, taken as no limit: 'velocity=-2 in shoulder'"),
    "limit_of_a_prismatic_joint_beyond_two_turns": (SHOULDER, '<joint name="shoulder" type="prismatic">', LIMIT,
        '<limit lower="-1" upper="90" effort="10" velocity="2"/>', ""),
    "limit_so_large_that_it_is_none": (LIMIT, '<limit lower="-1" upper="999999" effort="10" velocity="2"/>', ""),
    "limit_twice": (LIMIT, LIMIT + LIMIT, "elements that are given twice, alike: 'limit in shoulder'"),
    "limit_without_effort": (LIMIT, '<limit lower="-1" upper="1" velocity="2"/>',
        "limit missing, taken as no limit: 'effort in shoulder'"),
    "limit_without_velocity": (LIMIT, '<limit lower="-1" upper="1" effort="10"/>',
        "limit missing, taken as no limit: 'velocity in shoulder'"),
    "limit_word": (LIMIT, '<limit lower="-1.57." upper="1" effort="10" velocity="2"/>',
        "limit negative or not a finite number, taken as no limit: 'lower=-1.57. in shoulder'"),
    "mimic_link": (MIMIC, '<mimic joint="arm" multiplier="2" offset="0"/>', FREE + "'wrist of arm'"),
    "mimic_unknown": (MIMIC, '<mimic joint="elbow" multiplier="2" offset="0"/>', FREE + "'wrist of elbow'"),
    "origin_in_degrees": (ORIGIN, '<origin xyz="0 0 1" rpy="0 90 0"/>',
        "rpy of more than a turn, is it in degrees?: '0 90 0 in shoulder'"),
    "robot_name_blank": (ROBOT, '<robot name=" ">', "no name given: 'robot'"),
    "robot_without_joints_that_move": (SHOULDER, '<joint name="shoulder" type="fixed">', WRIST,
        '<joint name="wrist" type="fixed">', MIMIC, "", "a robot without joints that move: 'base'"),
}


def text(row):
    """SOUND with the replacements of a row of REFUSED or ODD."""
    made = SOUND
    for old, new in zip(row[:-1:2], row[1:-1:2], strict=True):
        assert made.count(old) == 1, old
        made = made.replace(old, new)
    return made


MALFORMED = {name: (text(row).encode(), row[-1]) for name, row in REFUSED.items()} | BYTES      # name: bytes, message
LOADED = {name: (text(row), row[-1]) for name, row in ODD.items()}                              # name: text, warnings
